/** The settings that open something, by their name under `sallyport.`. All of them have application scope. */
export const settingGuards = {
  webSearch: { strictest: false, opensMore: isOpened },
  shellInternet: { strictest: false, opensMore: isOpened },
  'vault.lockAfterMinutes': { strictest: 10, opensMore: isLonger },
} as const;

export type GuardedName = keyof typeof settingGuards;
export type GuardedValue = boolean | number | string;

/**
 * The value that counts: what stands in the settings, unless it opens more than what a person last confirmed. Before
 * anything was confirmed, that is the default.
 */
export function effective<T extends GuardedValue>(
  name: GuardedName,
  written: T,
  confirmed: GuardedValue | undefined,
): T {
  const { strictest, opensMore } = settingGuards[name];
  const held = typeof confirmed === typeof written ? (confirmed as T) : (strictest as GuardedValue as T);
  return opensMore(held, written) ? held : written;
}

function isOpened(from: GuardedValue, to: GuardedValue): boolean {
  return from !== true && to === true;
}

function isLonger(from: GuardedValue, to: GuardedValue): boolean {
  return !(typeof from === 'number' && typeof to === 'number') || to > from;
}
