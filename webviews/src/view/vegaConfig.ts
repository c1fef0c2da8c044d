import type { Config } from 'vega-lite';
import type { ViewTheme } from '../../../protocol/src/webview.ts';

/** Vega's own defaults, in the colours and fonts of the theme. */
export function vegaConfig(theme: ViewTheme): Config {
  const text = { labelColor: theme.foreground, titleColor: theme.foreground };
  const fonts = { labelFont: theme.fontFamily, titleFont: theme.fontFamily };
  return {
    background: theme.background,
    font: theme.fontFamily,
    padding: 12,
    axis: { ...text, ...fonts, domainColor: theme.border, gridColor: theme.border, tickColor: theme.border },
    legend: { ...text, ...fonts },
    header: { ...text, ...fonts },
    title: { color: theme.foreground, subtitleColor: theme.foreground, font: theme.fontFamily },
    text: { color: theme.foreground },
    view: { stroke: 'transparent' },
    aria: true,
  };
}
