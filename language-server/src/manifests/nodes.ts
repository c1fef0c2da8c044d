import { findNodeAtLocation, type JSONPath, type Node } from 'jsonc-parser';
import type { Span } from './problem.ts';

/** Small readers of jsonc-parser's tree, which types its values as `any`. */

export function spanOf(node: Node): Span {
  return { start: node.offset, end: node.offset + node.length };
}

export interface Member {
  readonly property: Node;
  readonly keyNode: Node;
  readonly key: string;
  /** Absent while a person is still writing it. */
  readonly value: Node | undefined;
}

/** The members of an object in the order of the text, duplicates included; none for anything else. */
export function membersOf(node: Node | undefined): Member[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap((property) => {
    const keyNode = property.children?.[0];
    return keyNode ? [{ property, keyNode, key: String(valueOf(keyNode)), value: property.children[1] }] : [];
  });
}

/** The items of an array; none for anything else. */
export function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.type === 'array' ? (node.children ?? []) : [];
}

/** The value of a string, number, boolean or null. */
export function valueOf(node: Node): unknown {
  return node.value as unknown;
}

/** The value of a string; undefined for anything else. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.type === 'string' ? String(valueOf(node)) : undefined;
}

/** The value of a number; undefined for anything else. */
export function numberOf(node: Node | undefined): number | undefined {
  return node?.type === 'number' ? Number(valueOf(node)) : undefined;
}

/** What stands at a path of keys and indexes, or undefined. */
export function at(root: Node | undefined, ...path: JSONPath): Node | undefined {
  return root ? findNodeAtLocation(root, path) : undefined;
}
