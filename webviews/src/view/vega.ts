import * as vega from 'vega';
import { expressionInterpreter } from 'vega-interpreter';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { ViewTheme } from '../../../protocol/src/webview.ts';
import { base64OfDataUrl, base64OfText, offerRenderer, type Drawing } from './renderer.ts';
import { vegaConfig } from './vegaConfig.ts';

/** A loader for a page without a network: data belongs into the chart's own `data.values`. */
const refuse = (uri: string) =>
  Promise.reject(
    new Error(`This view is sealed and does not load ${uri.slice(0, 200)}. Put the data in data.values.`),
  );
const sealedLoader: vega.Loader = {
  ...vega.loader(),
  load: refuse,
  http: refuse,
  file: refuse,
  sanitize: (uri: string) => (uri.startsWith('data:image/') ? Promise.resolve({ href: uri }) : refuse(uri)),
};

offerRenderer({
  async draw(target, json, theme): Promise<Drawing> {
    const spec = parseSpec(json);
    let view = await run(target, spec, theme);
    return {
      picture: async (format) =>
        format === 'png'
          ? base64OfDataUrl(await view.toImageURL('png', 2))
          : base64OfText(await view.toSVG()),
      setTheme: async (changed) => {
        view.finalize();
        target.replaceChildren();
        view = await run(target, spec, changed);
      },
    };
  },
});

function parseSpec(json: string): TopLevelSpec {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('A Vega-Lite chart is a JSON object');
  }
  // `usermeta` is for embedding pages (vega-embed takes options such as a loader from it); nothing here reads it.
  const spec: Record<string, unknown> = { ...value };
  delete spec['usermeta'];
  return spec as unknown as TopLevelSpec;
}

async function run(target: HTMLElement, spec: TopLevelSpec, theme: ViewTheme): Promise<vega.View> {
  const problems: string[] = [];
  const logger = vega.logger(vega.Warn);
  logger.error = (...values: unknown[]) => {
    problems.push(values.map(String).join(' '));
    return logger;
  };
  logger.warn = () => logger;
  const compiled = compile(withSize(spec), { config: vegaConfig(theme), logger });
  // The interpreter walks a syntax tree: expressions never become code.
  const runtime = vega.parse(compiled.spec, undefined, { ast: true });
  const view = new vega.View(runtime, {
    expr: expressionInterpreter,
    loader: sealedLoader,
    renderer: 'svg',
    container: target,
    hover: true,
    logger,
  });
  await view.runAsync();
  if (problems.length > 0) throw new Error(problems.slice(0, 3).join('; '));
  return view;
}

/** A chart without a width of its own takes the frame's. */
function withSize(spec: TopLevelSpec): TopLevelSpec {
  const composed = ['facet', 'hconcat', 'vconcat', 'concat', 'repeat', 'spec'].some((key) => key in spec);
  const width = (spec as { width?: unknown }).width;
  if (composed || width !== undefined) return spec;
  return { autosize: { type: 'fit', contains: 'padding' }, ...spec, width: innerWidth };
}
