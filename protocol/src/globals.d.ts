/** The few globals that Node, worker threads and browsers all have, so that `protocol/` needs neither Node's nor DOM's types. */
declare class AbortSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(): void;
}
declare class TextEncoder {
  encode(text: string): Uint8Array;
}
declare class TextDecoder {
  constructor(label: string, options: { fatal: boolean });
  decode(bytes: Uint8Array): string;
}
declare function setTimeout(run: () => void, ms: number): number;
declare function clearTimeout(timer: number): void;
