import type { Node } from 'jsonc-parser';
import {
  appVersionPattern,
  environmentNamePattern,
  executionServicePattern,
  functionNamePattern,
  hostPattern,
  idPattern,
  modulePattern,
  pagePattern,
  wirePattern,
} from '../../../protocol/src/manifests.ts';
import { replaceFix } from './edits.ts';
import { spanOf } from './nodes.ts';
import { problem, type Report } from './problem.ts';

/** Says what a text is that does not match its pattern, in the words of that pattern. */
export function checkPattern(node: Node, value: string, pattern: string, report: Report): void {
  const at = spanOf(node);
  if (new RegExp(pattern, 'u').test(value)) return;
  switch (pattern) {
    // Hosts have rules beyond their pattern, which are told with them (checkPermissions.ts).
    case hostPattern.source:
      return;
    case idPattern.source:
      return report(problem('bad-id', at, [value], fixWith(toId(value))));
    case wirePattern.source: {
      const [card = '', port = '', ...rest] = value.split('/');
      const mended =
        rest.length === 0 && toId(card) && toId(port) ? `${toId(card)}/${toId(port)}` : undefined;
      return report(problem('bad-wire', at, [value], fixWith(mended)));
    }
    case environmentNamePattern.source: {
      const mended = value.toUpperCase().replace(/[^A-Z0-9_]/g, '_');
      return report(
        problem(
          'bad-variable',
          at,
          [value],
          fixWith(environmentNamePattern.test(mended) ? mended : undefined),
        ),
      );
    }
    case executionServicePattern.source:
      return report(problem('bad-service', at, [value]));
    case pagePattern.source:
      return report(problem('bad-page', at, [value]));
    case modulePattern.source:
      return report(problem('bad-module', at, [value]));
    case functionNamePattern.source:
      return report(problem('bad-function-name', at, [value], fixWith(toFunctionName(value))));
    case appVersionPattern.source:
      return report(problem('bad-app-version', at, [value], fixWith(toVersion(value))));
    default:
      return report(problem('does-not-fit', at, [pattern]));
  }

  function fixWith(mended: string | undefined) {
    return mended ? replaceFix(at, mended) : undefined;
  }
}

/** An id made of a name: `Monthly Means` gives `monthly-means`; undefined where no letter is left. */
export function toId(name: string): string | undefined {
  const mended = name
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 64);
  return idPattern.test(mended) ? mended : undefined;
}

/** `search-notes` gives `searchNotes`; undefined where no letter is left. */
function toFunctionName(name: string): string | undefined {
  const [first = '', ...rest] = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const mended = [
    first.charAt(0).toLowerCase() + first.slice(1),
    ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)),
  ].join('');
  return functionNamePattern.test(mended) ? mended : undefined;
}

/** `v1.2` gives `1.2.0`. */
function toVersion(text: string): string | undefined {
  const numbers = /^\s*v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?\s*$/.exec(text);
  if (!numbers) return undefined;
  const mended = `${numbers[1]}${numbers[2] ?? '.0'}${numbers[3] ?? '.0'}`;
  return appVersionPattern.test(mended) ? mended : undefined;
}
