import * as z from 'zod/mini';
import type { State } from '../keptValue.ts';

/**
 * View types for apps. VS Code derives a webview's origin from its view type, so each app has its own; and it wakes an
 * extension for a tab to restore only by `onWebviewPanel:` events that stand in `package.json`. So there is a fixed
 * number of them, and an app keeps the one that it got.
 */
export const appViewTypes: readonly string[] = Array.from(
  { length: 64 },
  (_, slot) => `sallyport.app${slot + 1}`,
);

const stateName = 'sallyport.appSlots';
/** By time of last use, the latest first. */
const saved = z.array(
  z.strictObject({
    app: z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/)),
    viewType: z.enum(appViewTypes),
  }),
);
type Saved = z.infer<typeof saved>;

/** Which app has which view type. Kept for this computer; another window's change is read each time. */
export class AppSlots {
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  /** The view type of an app. A first one takes a free type, or that of the app which was opened longest ago. */
  async take(app: string): Promise<string> {
    const { viewType, after } = taken(this.#list(), app);
    await this.#state.update(stateName, after);
    return viewType;
  }

  /** The app that has this view type; undefined where none has. */
  appOf(viewType: string): string | undefined {
    return this.#list().find((each) => each.viewType === viewType)?.app;
  }

  #list(): Saved {
    const parsed = z.safeParse(saved, this.#state.get(stateName));
    return parsed.success ? parsed.data : [];
  }
}

function taken(before: Saved, app: string): { viewType: string; after: Saved } {
  const own = before.find((each) => each.app === app);
  const used = new Set(before.map((each) => each.viewType));
  const viewType =
    own?.viewType ??
    appViewTypes.find((each) => !used.has(each)) ??
    before.at(-1)?.viewType ??
    'sallyport.app1';
  const others = before.filter((each) => each.app !== app && each.viewType !== viewType);
  return { viewType, after: [{ app, viewType }, ...others] };
}
