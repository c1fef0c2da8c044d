import * as Plotly from 'plotly.js-strict-dist-min';
import * as z from 'zod/mini';
import type { ViewTheme } from '../../../protocol/src/webview.ts';
import { base64OfDataUrl, offerRenderer, type Drawing } from './renderer.ts';

/** A figure as Plotly writes it to JSON; what is inside is for Plotly to judge. Its `config` is not taken. */
const figure = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  layout: z._default(z.record(z.string(), z.unknown()), {}),
});

/** Nothing is sent or fetched: no cloud buttons, no logo link, no maps from elsewhere. */
const config = {
  displaylogo: false,
  responsive: true,
  showLink: false,
  showSendToCloud: false,
  plotlyServerURL: '',
  topojsonURL: 'about:blank#',
  modeBarButtonsToRemove: ['toImage', 'sendDataToCloud'],
};

offerRenderer({
  async draw(target, json, theme): Promise<Drawing> {
    const parsed = z.safeParse(figure, JSON.parse(json));
    if (!parsed.success) throw new Error('A Plotly figure is a JSON object with a list "data"');
    const { data, layout } = parsed.data;
    target.style.minHeight = '420px';
    const graph = await Plotly.newPlot(target, data, themed(layout, theme), config);
    return {
      picture: async (format) => base64OfDataUrl(await Plotly.toImage(graph, { format, scale: 2 })),
      setTheme: async (changed) => {
        await Plotly.react(graph, data, themed(layout, changed), config);
      },
    };
  },
});

function themed(layout: Record<string, unknown>, theme: ViewTheme): Record<string, unknown> {
  const axis = { gridcolor: theme.border, zerolinecolor: theme.border, linecolor: theme.border };
  return {
    autosize: true,
    paper_bgcolor: theme.background,
    plot_bgcolor: theme.background,
    margin: { t: 48, r: 24, b: 48, l: 56 },
    ...layout,
    font: { color: theme.foreground, family: theme.fontFamily, ...asRecord(layout['font']) },
    xaxis: { ...axis, automargin: true, ...asRecord(layout['xaxis']) },
    yaxis: { ...axis, automargin: true, ...asRecord(layout['yaxis']) },
  };
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
