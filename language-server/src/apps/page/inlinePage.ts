import { parse, serialize, type DefaultTreeAdapterTypes } from 'parse5';
import { UserError } from '../../../../protocol/src/errors.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import { inlineStyle } from './inlineStyle.ts';
import { localPath, toDataUrl } from './localFiles.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Where the files of a page come from. */
export interface PageFiles {
  /** The bytes of a file of the app. Throws `not-found`. */
  readonly read: (path: string) => Uint8Array;
  /** One script that stands for a module and everything that it imports. */
  readonly bundle: (path: string, inline: string | null) => Promise<string>;
}

/**
 * Makes one document of a page and its local files: scripts, styles, images, fonts and media. It is parsed as a browser
 * does (WHATWG HTML) and never searched as text. What leads elsewhere stays as it is and does not load, for the frame has
 * no network; a file that is not there throws `bad-app`.
 */
export async function inlinePage(entry: string, html: string, files: PageFiles): Promise<string> {
  const document = parse(html);
  for (const element of [...elementsOf(document)]) await inlineElement(element, entry, files);
  return serialize(document);
}

async function inlineElement(element: Element, page: string, files: PageFiles): Promise<void> {
  switch (element.tagName) {
    case 'script':
      return inlineScript(element, page, files);
    case 'link':
      inlineLink(element, page, files);
      return;
    case 'style':
      setText(element, inlineStyle(textOf(element), page, files.read));
      return;
    case 'base':
      // A base would change what every later address means; the document has none of its own.
      remove(element);
      return;
    default:
      for (const name of addressAttributes[element.tagName] ?? []) inlineAddress(element, name, page, files);
      inlineStyleAttribute(element, page, files);
  }
}

const addressAttributes: Readonly<Record<string, readonly string[]>> = {
  img: ['src'],
  source: ['src'],
  audio: ['src'],
  video: ['src', 'poster'],
  track: ['src'],
  input: ['src'],
  image: ['href', 'xlink:href'],
  use: [],
};

async function inlineScript(element: Element, page: string, files: PageFiles): Promise<void> {
  const source = attribute(element, 'src');
  const isModule = attribute(element, 'type')?.trim().toLowerCase() === 'module';
  if (source === undefined) {
    if (isModule) {
      setText(element, guardScript(await files.bundle(page, textOf(element))));
      drop(element, ['type']);
      deferInline(element);
    }
    return;
  }
  const path = localPath(source, page);
  if (path === undefined) return;
  if (isModule) {
    setText(element, guardScript(await files.bundle(path, null)));
    drop(element, ['src', 'type', 'integrity', 'crossorigin', 'async', 'defer']);
    deferInline(element);
    return;
  }
  setText(element, guardScript(decode(read(files, path), path)));
  const isDeferred = attribute(element, 'defer') !== undefined && attribute(element, 'async') === undefined;
  drop(element, ['src', 'integrity', 'crossorigin', 'async', 'defer']);
  if (isDeferred) deferInline(element);
}

/** A module and a deferred script run when the document was parsed; an inline one does so as the last of the body. */
function deferInline(element: Element): void {
  const body = [...elementsOf(rootOf(element))].find(({ tagName }) => tagName === 'body');
  if (!body) return;
  remove(element);
  body.childNodes.push(element);
  element.parentNode = body;
}

function inlineLink(element: Element, page: string, files: PageFiles): void {
  const relations = (attribute(element, 'rel') ?? '').toLowerCase().split(/\s+/);
  const path = localPath(attribute(element, 'href') ?? '', page);
  if (relations.includes('stylesheet') && path !== undefined) {
    const css = inlineStyle(decode(read(files, path), path), path, files.read);
    const media = attribute(element, 'media');
    element.tagName = element.nodeName = 'style';
    element.attrs = media === undefined ? [] : [{ name: 'media', value: media }];
    return setText(element, css);
  }
  if (relations.includes('icon')) return inlineAddress(element, 'href', page, files);
  // Hints to load something beforehand have nothing to do: everything is in the document.
  if (
    relations.some((each) => /^(preload|modulepreload|prefetch|preconnect|dns-prefetch|manifest)$/.test(each))
  )
    remove(element);
}

function inlineAddress(element: Element, name: string, page: string, files: PageFiles): void {
  const found = element.attrs.find(
    (each) => each.name === name || `${each.prefix ?? ''}:${each.name}` === name,
  );
  const path = found && localPath(found.value, page);
  if (found && path !== undefined) found.value = toDataUrl(path, read(files, path));
  if (element.tagName === 'img' || element.tagName === 'source') drop(element, ['srcset']);
}

function inlineStyleAttribute(element: Element, page: string, files: PageFiles): void {
  const style = element.attrs.find(({ name }) => name === 'style');
  if (style?.value.includes('url')) style.value = inlineStyle(style.value, page, files.read);
}

/**
 * Text of a script that would end its element early (WHATWG HTML, “Restrictions for contents of script elements”) is
 * written so that it means the same in strings, templates and regular expressions.
 */
function guardScript(code: string): string {
  return code.replace(/<(?=\/script|!--|script)/gi, '\\x3C');
}

function read(files: PageFiles, path: string): Uint8Array {
  try {
    return files.read(path);
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'not-found') throw error;
    throw new UserError('bad-app', `The page names ${showHidden(path)}, which is not in the app.`, { path });
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UserError('bad-app', `${showHidden(path)} is not UTF-8 text.`, { path });
  }
}

function* elementsOf(node: Node): Generator<Element, void, undefined> {
  // A list of its own, not recursion: how deep a page nests is the app's choice.
  const waiting: Node[] = [node];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if ('tagName' in next) yield next;
    const below: Node[] = 'childNodes' in next ? [...next.childNodes] : [];
    if ('content' in next) below.push(next.content);
    for (let at = below.length - 1; at >= 0; at--) {
      const child = below[at];
      if (child) waiting.push(child);
    }
  }
}

function rootOf(element: Element): Node {
  let at: Node = element;
  while ('parentNode' in at && at.parentNode) at = at.parentNode;
  return at;
}

function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((each) => each.name === name)?.value;
}

function drop(element: Element, names: readonly string[]): void {
  element.attrs = element.attrs.filter(({ name }) => !names.includes(name));
}

function textOf(element: Element): string {
  return element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
}

function setText(element: Element, value: string): void {
  element.childNodes = [{ nodeName: '#text', value, parentNode: element }];
}

function remove(element: Element): void {
  const parent = element.parentNode;
  if (!parent) return;
  parent.childNodes = parent.childNodes.filter((child) => child !== element);
  element.parentNode = null;
}
