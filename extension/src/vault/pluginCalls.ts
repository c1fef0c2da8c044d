import * as z from 'zod/mini';

const called = z.object({ plugin: z.string() });

/**
 * The calls of plugins that pages of apps wait for in this window. The extension counts them itself, from the webview
 * that a call came from: a request with a vault value is made for a plugin while one of them is under way, whoever
 * speaks in its name.
 */
export class PluginCalls {
  readonly #underWay = new Set<{ readonly app: string; readonly plugin: () => string }>();

  /** Notes a call of the bridge, where it is one of a plugin. The result is to be called when it has ended. */
  begin(app: string, method: string, params: string): () => void {
    if (method !== 'plugin.call') return () => undefined;
    const call = { app, plugin: once(() => pluginOf(params)) };
    this.#underWay.add(call);
    return () => void this.#underWay.delete(call);
  }

  /** True while a page waits for this plugin: `plugin:APP/ID`. */
  isUnderWay(principal: string): boolean {
    return [...this.#underWay].some(
      ({ app, plugin }) =>
        principal.startsWith(`plugin:${app}/`) && principal === `plugin:${app}/${plugin()}`,
    );
  }
}

function pluginOf(params: string): string {
  try {
    return z.safeParse(called, JSON.parse(params)).data?.plugin ?? '';
  } catch {
    return '';
  }
}

/** Parameters may be long, and a plugin may make many requests during one call. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
