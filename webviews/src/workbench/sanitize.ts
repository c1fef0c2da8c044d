import purifier, { type Config } from 'dompurify';

/** Nothing but text and its structure. Whatever is not named here is dropped, with its text kept. */
const allowedTags = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 's', 'code', 'pre', 'blockquote'],
  ...['ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a'],
];

const settings: Config & { RETURN_DOM_FRAGMENT: true } = {
  ALLOWED_TAGS: allowedTags,
  ALLOWED_ATTR: ['href', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^https?:\/\//i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOW_UNKNOWN_PROTOCOLS: false,
  // Named once more, so that a longer list above can't let them in.
  FORBID_TAGS: [
    ...[
      'style',
      'form',
      'input',
      'button',
      'textarea',
      'select',
      'iframe',
      'frame',
      'object',
      'embed',
      'svg',
    ],
    ...['math', 'img', 'picture', 'video', 'audio', 'source', 'link', 'meta', 'base', 'template', 'dialog'],
  ],
  FORBID_ATTR: ['style', 'src', 'srcset', 'id', 'class', 'name', 'ping', 'target', 'action', 'background'],
  RETURN_DOM_FRAGMENT: true,
};

/**
 * Markup as elements that load nothing and lead nowhere: a link keeps its address as `data-to`, and only the workbench
 * reads it. So neither the browser nor VS Code finds an address that it could follow or look ahead to.
 */
export function sanitize(markup: string): DocumentFragment {
  const fragment = purifier.sanitize(markup, settings);
  for (const link of fragment.querySelectorAll('a')) {
    const address = link.getAttribute('href');
    link.removeAttribute('href');
    if (address === null) continue;
    link.dataset['to'] = address;
    link.title = address;
    link.setAttribute('role', 'link');
    link.tabIndex = 0;
  }
  for (const table of fragment.querySelectorAll('table')) {
    const box = document.createElement('div');
    box.className = 'wide';
    box.tabIndex = 0;
    table.replaceWith(box);
    box.append(table);
  }
  return fragment;
}
