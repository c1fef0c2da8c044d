import type { Transport } from '../../../protocol/src/channel.ts';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}
declare function acquireVsCodeApi(): VsCodeApi;

/** The extension's side of this webview. `acquireVsCodeApi` may be called once, so this is made once. */
export interface Host {
  readonly transport: Transport;
  getState(): unknown;
  setState(state: unknown): void;
}

export function connectHost(): Host {
  const api = acquireVsCodeApi();
  return {
    getState: () => api.getState(),
    setState: (state) => api.setState(state),
    transport: {
      send: (message) => api.postMessage(message),
      start: (onMessage) =>
        window.addEventListener('message', (event: MessageEvent<unknown>) => {
          // VS Code posts from a window of this origin. A sealed frame, or one inside it, has the origin "null".
          if (event.origin === window.origin) onMessage(event.data);
        }),
      close: () => undefined,
    },
  };
}
