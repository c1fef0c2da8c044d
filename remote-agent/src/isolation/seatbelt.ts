/** What programs of macOS need to start, and where people install interpreters for all users. */
export const systemFolders: readonly string[] = [
  '/usr',
  '/bin',
  '/System',
  '/Library/Frameworks',
  '/opt/homebrew',
  '/private/var/db/dyld',
];

/** What a card may reach on macOS, by absolute real paths: symbolic links are not followed by the rules. */
export interface SeatbeltSpec {
  /** The system and interpreters, and the card's own inputs. */
  readonly readable: readonly string[];
  /** The card's own folders. */
  readonly writable: readonly string[];
  readonly network: 'none' | { readonly loopbackPort: number } | 'all';
}

/**
 * The Seatbelt profile of a card, in the language of sandbox-exec(1): everything is denied, then the little that a
 * program needs is allowed by name. No Mach service but the ones that libc itself asks, no Apple events, no opening of
 * documents. Writable folders are re-denied being moved or removed themselves, so that no rule loses its place.
 */
export function seatbeltProfile(spec: SeatbeltSpec): string {
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-fork)',
    '(allow process-exec)',
    '(allow signal (target same-sandbox))',
    '(allow process-info* (target same-sandbox))',
    '(allow sysctl-read)',
    '(allow file-read-metadata)',
    ...['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom'].map(
      (path) => `(allow file-read* file-write-data (literal ${profileString(path)}))`,
    ),
    '(allow file-read* (literal "/"))',
    ...[...spec.readable, ...spec.writable].map(
      (path) => `(allow file-read* (subpath ${profileString(path)}))`,
    ),
    ...spec.writable.map((path) => `(allow file-write* (subpath ${profileString(path)}))`),
    ...spec.writable.map((path) => `(deny file-write-unlink (literal ${profileString(path)}))`),
    '(deny file-write-setugid)',
    ...networkRules(spec.network),
    '',
  ].join('\n');
}

function networkRules(network: SeatbeltSpec['network']): string[] {
  if (network === 'none') return [];
  if (network !== 'all') {
    return [`(allow network-outbound (remote ip ${profileString(`localhost:${network.loopbackPort}`)}))`];
  }
  return [
    '(allow network-outbound (remote ip "*:*"))',
    '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
    '(allow mach-lookup (global-name "com.apple.trustd.agent"))',
    '(allow system-socket)',
  ];
}

/** A string of the profile language. Throws on control characters, which no folder of ours has. */
export function profileString(text: string): string {
  if (/\p{Cc}/u.test(text)) {
    throw new TypeError('Failed to write a sandbox profile: a path holds a control character');
  }
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
