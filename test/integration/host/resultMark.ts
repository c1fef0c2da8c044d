/** Begins the one console line by which the extension host tells a result to the runner outside. */
export const resultMark = 'SALLYPORT-RESULT ';
