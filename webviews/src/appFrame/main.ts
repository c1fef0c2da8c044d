import { lockDown } from '../view/lockDown.ts';
import { serveAppShell } from './serveAppShell.ts';

// First of all, before any other code can keep a reference.
const sinks = lockDown(window);

// The shell, and nobody else, hands over one port, once.
const onPort = (event: MessageEvent<unknown>) => {
  const port = event.ports[0];
  if (event.source !== window.parent || !port) return;
  window.removeEventListener('message', onPort);
  serveAppShell(port, sinks);
};
window.addEventListener('message', onPort);
