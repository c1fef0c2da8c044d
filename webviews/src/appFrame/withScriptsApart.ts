import { withoutFrames } from '../view/withoutFrames.ts';

/**
 * The markup of a page that was parsed, with each inline script in a blob of its own where `withoutFrames` would change
 * its text: `a<frames.length` in a script is a comparison, and no tag. Every other text is left to that renaming.
 */
export function withScriptsApart(page: Document): string {
  for (const script of page.querySelectorAll('script')) {
    const text = script.textContent;
    if (script.hasAttribute('src') || !runs(script.type) || withoutFrames(text) === text) continue;
    script.setAttribute('src', URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
    script.textContent = '';
  }
  return `<!doctype html>${page.documentElement.outerHTML}`;
}

/** Classic scripts and modules run; any other type is a block of data. */
function runs(type: string): boolean {
  return ['', 'module', 'text/javascript', 'application/javascript'].includes(type.trim().toLowerCase());
}
