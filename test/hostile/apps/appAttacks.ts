import type { Attack } from '../views/attacks.ts';

/**
 * Ways out that only an app's page has: its markup is parsed and written again before it runs, so what one parser reads as
 * text must not become a frame for the other.
 */
function hiddenFrame(name: string, wrap: (frame: string) => string): Attack {
  return {
    name,
    rows: 'M11, case 15',
    over: 'udp',
    html: ({ udpPort }) => {
      const code = `const p = new RTCPeerConnection({ iceServers: [{ urls: \`stun:127.0.0.1:${udpPort}\` }] });p.createDataChannel(\`x\`); p.createOffer().then((o) => p.setLocalDescription(o));`;
      const frame = `<iframe srcdoc="<script>${code}</script>"></iframe>`;
      // The plain way as well: where a parser reads the hidden one as text, the control still proves the sink.
      return `<!doctype html><html><body><script>addEventListener('DOMContentLoaded', () => {
        try { const f = document.createElement('iframe'); f.srcdoc = '<scr' + 'ipt>${code}</scr' + 'ipt>'; document.body.append(f); } catch {}
        parent.postMessage('ran ${name}', '*'); });</script>${wrap(frame)}</body></html>`;
    },
  };
}

export const appAttacks: readonly Attack[] = [
  hiddenFrame('template-shadow', (frame) => `<div><template shadowrootmode="open">${frame}</template></div>`),
  hiddenFrame(
    'template-clone',
    (frame) =>
      `<template id="t">${frame}</template><script>document.body.append(document.getElementById('t').content.cloneNode(true))</script>`,
  ),
  hiddenFrame('noscript', (frame) => `<noscript><p title='</noscript>${frame}'></p></noscript>`),
  hiddenFrame('svg-style', (frame) => `<svg><style><!--</style>${frame}--></style></svg>`),
  hiddenFrame(
    'math-mutation',
    (frame) => `<math><mtext><table><mglyph><style><!--</style><p title='-->${frame}'></p>`,
  ),
  hiddenFrame('comment', (frame) => `<!--><p>${frame}-->`),
  hiddenFrame('textarea', (frame) => `<textarea></textarea ${frame}>${frame}`),
  hiddenFrame('xmp', (frame) => `<xmp></xmp>${frame}`),
  hiddenFrame(
    'script-text',
    (frame) =>
      `<script type="text/plain" id="s">${frame.replaceAll('</script>', '<\\/script>')}</script><script>try { document.body.insertAdjacentHTML('beforeend', document.getElementById('s').textContent) } catch {}</script>`,
  ),
  hiddenFrame(
    'plaintext',
    (frame) =>
      `<script>const made = \`${frame.replaceAll('</script>', '<\\/script>')}\`; try { document.body.insertAdjacentHTML('beforeend', made) } catch {}</script>`,
  ),
  {
    name: 'link-press',
    rows: 'M7, case 13',
    html: ({ origin }) =>
      `<!doctype html><body><a id="l" href="${origin}/link-press">x</a><script>document.getElementById('l').click(); parent.postMessage('ran link-press', '*')</script>`,
  },
  {
    name: 'submit-press',
    rows: 'M7, case 13',
    html: ({ origin }) =>
      `<!doctype html><body><form action="${origin}/submit-press"><button id="b">x</button></form><script>document.getElementById('b').click(); parent.postMessage('ran submit-press', '*')</script>`,
  },
  {
    name: 'second-head',
    rows: 'M13, case 10',
    html: ({ origin }) =>
      `<html><head><title>x</title></head><head><meta http-equiv="Content-Security-Policy" content="default-src * 'unsafe-inline'"></head><body><img src="${origin}/second-head"><script>parent.postMessage('ran second-head', '*')</script>`,
  },
  {
    name: 'no-head',
    rows: 'M13, case 10',
    html: ({ origin }) =>
      `<img src="${origin}/no-head"><script>parent.postMessage('ran no-head', '*')</script>`,
  },
  {
    name: 'base-element',
    rows: 'M7',
    html: ({ origin }) =>
      `<!doctype html><head><base href="${origin}/"></head><body><img src="base-element"><script>parent.postMessage('ran base-element', '*')</script>`,
  },
];
