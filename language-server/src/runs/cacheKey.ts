import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { artifactRef, type ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import type { Runtime } from '../../../protocol/src/manifests.ts';
import { permissionKey } from '../../../protocol/src/permissions.ts';
import type { FrozenCard } from './snapshot.ts';

/**
 * What of the place where a runtime's cards run can make a result differ, by name: the platform, the interpreter's path
 * and version, the version of the helper modules. System programs of a `command` card are known by the platform alone.
 * Gives the same object as long as nothing of it changed.
 */
export type KeyEnvironment = (runtime: Runtime) => Readonly<Record<string, string>>;

/** An input with what it holds in this run. */
export interface KeyInput {
  readonly port: string;
  readonly artifact: ArtifactRef;
}

const named = z.record(z.string(), z.string());
/** Everything that a card's result depends on, in parts that can be named. */
export const keyPartsSchema = z.object({
  code: artifactRef,
  runtime: z.object({ runtime: z.string(), entry: z.union([z.string(), z.array(z.string())]) }),
  params: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  inputs: named,
  outputs: named,
  environment: named,
  permissions: z.array(z.string()),
  limits: z.record(z.string(), z.number()),
});
export type KeyParts = z.infer<typeof keyPartsSchema>;

/**
 * The parts of a card's cache key. Of the limits only those count that a program can see and adapt to, or that decide
 * whether a result is kept; a result that is there did end in time, whatever the time limit is now.
 */
export function keyParts(
  card: FrozenCard,
  inputs: readonly KeyInput[],
  environment: KeyEnvironment,
): KeyParts {
  return {
    code: card.code,
    runtime: { runtime: card.runtime, entry: card.entry },
    params: card.params,
    inputs: Object.fromEntries(
      inputs.map(({ port, artifact }) => {
        const type = card.inputs.find((input) => input.port === port)?.type ?? '';
        return [port, `${type} ${artifact.kind} ${artifact.digest}`];
      }),
    ),
    outputs: Object.fromEntries(
      card.outputs.map(({ port, type, optional }) => [port, optional ? `${type} optional` : type]),
    ),
    environment: environment(card.runtime),
    // Where it runs is no part of what it makes: what of a place can matter is in `environment`.
    permissions: card.asked.filter(({ name }) => name !== 'execution').map(permissionKey),
    limits: {
      memoryMB: card.limits.memoryMB,
      processes: card.limits.processes,
      outputMB: card.limits.outputMB,
    },
  };
}

/**
 * The parts and the key of a card, remembered for a frozen card as long as it lives: most cards of a project are asked
 * for again with the same inputs.
 */
export function keyOf(
  card: FrozenCard,
  inputs: readonly KeyInput[],
  environment: KeyEnvironment,
): { readonly key: string; readonly parts: KeyParts } {
  const place = environment(card.runtime);
  const given = inputs.map(({ port, artifact }) => `${port} ${artifact.kind} ${artifact.digest}`).join('\n');
  const known = keys.get(card);
  if (known?.given === given && known.place === place) return known;
  const parts = keyParts(card, inputs, environment);
  const made = { given, place, parts, key: cacheKey(parts) };
  keys.set(card, made);
  return made;
}

const keys = new WeakMap<FrozenCard, { given: string; place: object; parts: KeyParts; key: string }>();

/** SHA-256 over the canonical JSON (RFC 8785) of the parts and the version of this format. */
export function cacheKey(parts: KeyParts): string {
  return hash('sha256', canonicalJson({ version: 1, ...parts }));
}

/**
 * Why a result of this card can't be used again, whatever its key: it sees files that the key knows nothing of. What
 * it fetched from the network is kept, as any build tool keeps a download; ignoring the cache fetches it anew.
 */
export function unkeyedSource(card: FrozenCard): string | null {
  if (card.asked.some(({ name }) => name === 'unsandboxed')) return 'it sees the project’s own files';
  const folder = card.asked.find((permission) => permission.name === 'hostFolder');
  return folder ? `it sees the shared folder ${folder.path}` : null;
}
