/** The language id of `sallyport.json` and `_card.json`; the extension's manifest names the same. */
export const manifestLanguage = 'sallyport-manifest';
