import { UserError } from '../../../../protocol/src/errors.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import { localPath, toDataUrl } from './localFiles.ts';
import { scanStyle } from './scanStyle.ts';

/**
 * A style sheet with the local files that it names in it: `@import` and `url()`. What leads elsewhere stays and does not
 * load. Throws `bad-app` for a file that is not there and for sheets that import each other too deep.
 */
export function inlineStyle(
  css: string,
  from: string,
  read: (path: string) => Uint8Array,
  depth = 0,
): string {
  if (depth > deepestImport)
    throw new UserError('bad-app', `${showHidden(from)}: style sheets import each other too deep.`);
  const get = (path: string) => {
    try {
      return read(path);
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'not-found') throw error;
      throw new UserError(
        'bad-app',
        `${showHidden(from)} names ${showHidden(path)}, which is not in the app.`,
      );
    }
  };
  let result = '';
  let at = 0;
  for (const part of scanStyle(css)) {
    const path = localPath(part.address, from);
    if (path === undefined) continue;
    result += css.slice(at, part.start);
    at = part.end;
    if (part.kind === 'url') result += `url("${toDataUrl(path, get(path))}")`;
    else {
      const sheet = inlineStyle(new TextDecoder().decode(get(path)), path, read, depth + 1);
      result += part.conditions === '' ? sheet : `@media ${part.conditions}{${sheet}}`;
    }
  }
  // An element of style ends at the first such text, wherever it stands in the sheet.
  return (result + css.slice(at)).replace(/<(?=\/style)/gi, '\\3C ');
}

const deepestImport = 8;
