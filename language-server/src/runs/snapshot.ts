import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { Reason } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../../protocol/src/limits.ts';
import type { CardManifest, PortType, Runtime } from '../../../protocol/src/manifests.ts';
import { permissionsOfCard, type Permission } from '../../../protocol/src/permissions.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import type { JobAccess, JobLimits } from '../../../protocol/src/runner.ts';
import type { VaultWish } from '../../../protocol/src/vault.ts';
import { closedAccess, toAccess } from '../permissions/access.ts';
import type { LoadedCard, LoadedProject, Wire } from '../project/model.ts';

/** Where an input comes from. */
export interface Source {
  readonly card: string;
  readonly port: string;
}

export interface FrozenInput {
  readonly port: string;
  readonly type: PortType;
  readonly optional: boolean;
  readonly from: Source | null;
}

/** A card as it was when the run was submitted. No later edit reaches it. */
export interface FrozenCard {
  readonly id: string;
  readonly title: string;
  readonly runtime: Runtime;
  readonly entry: CardManifest['entry'];
  /** The card's folder without its manifest: a change of a title is no change of code. */
  readonly code: ArtifactRef;
  readonly inputs: readonly FrozenInput[];
  readonly outputs: readonly { readonly port: string; readonly type: PortType; readonly optional: boolean }[];
  readonly params: Readonly<Record<string, string | number | boolean>>;
  readonly limits: JobLimits;
  readonly asked: readonly Permission[];
  readonly access: JobAccess;
  /** Values of the vault that it uses. */
  readonly vault: readonly VaultWish[];
  /** Where it runs: `local`, or what its permission `execution` names. */
  readonly place: string;
  readonly viewOutput: string | null;
  /** Why it can't run, whatever else is so; null for a sound card. */
  readonly fault: Reason | null;
}

/** A project's cards and wires, frozen. */
export interface Snapshot {
  readonly root: string;
  readonly projectName: string;
  /** Sources before their users, as far as there is an order. */
  readonly cards: readonly FrozenCard[];
}

/** Freezes one card's folder and returns the frozen copy. Throws `UserError`. */
export type CaptureCode = (folder: string) => ArtifactRef | Promise<ArtifactRef>;

/**
 * Freezes the chosen cards and everything that they need; all cards where `chosen` is absent. A card that can't be
 * frozen carries the reason as its fault. Throws `bad-project` for an unusable project manifest, `not-found` for a card
 * that is not there, and `disk-full`.
 */
export async function freeze(
  project: LoadedProject,
  chosen: readonly string[] | undefined,
  capture: CaptureCode,
  userFolder: string,
): Promise<Snapshot> {
  if (!project.manifest) {
    const problem = project.problems[0]?.message ?? 'It can’t be read.';
    throw new UserError('bad-project', `${project.manifestPath}: ${problem}`, { path: project.manifestPath });
  }
  const wiresTo = groupByTarget(project.graph.wires);
  const cards: FrozenCard[] = [];
  const before = frozenOf(project);
  for (const id of chosenCards(project, chosen, wiresTo)) {
    const card = project.cards.get(id);
    if (!card) continue;
    const same = before.get(id);
    const frozen =
      same && !same.fault && (await sameCode(same, card, capture))
        ? same
        : await freezeCard(project, card, wiresTo.get(id) ?? [], capture, userFolder);
    before.set(id, frozen);
    cards.push(frozen);
  }
  return { root: project.root, projectName: project.manifest.name, cards };
}

/** The frozen cards of a project that has not changed since: only their code may have. */
function frozenOf(project: LoadedProject): Map<string, FrozenCard> {
  const known = frozenCards.get(project);
  if (known) return known;
  const cards = new Map<string, FrozenCard>();
  frozenCards.set(project, cards);
  return cards;
}

const frozenCards = new WeakMap<LoadedProject, Map<string, FrozenCard>>();

async function sameCode(frozen: FrozenCard, card: LoadedCard, capture: CaptureCode): Promise<boolean> {
  try {
    const code = capture(card.folder);
    return (code instanceof Promise ? await code : code).digest === frozen.code.digest;
  } catch {
    return false;
  }
}

function groupByTarget(wires: readonly Wire[]): Map<string, Wire[]> {
  const groups = new Map<string, Wire[]>();
  for (const wire of wires) {
    const group = groups.get(wire.toCard);
    if (group) group.push(wire);
    else groups.set(wire.toCard, [wire]);
  }
  return groups;
}

/** Ids in an order where sources come first; cards that have no order come last. */
function chosenCards(
  project: LoadedProject,
  chosen: readonly string[] | undefined,
  wiresTo: ReadonlyMap<string, readonly Wire[]>,
): string[] {
  const ordered = [...new Set([...project.graph.order, ...project.cards.keys()])];
  if (!chosen) return ordered;
  const needed = new Set<string>();
  const waiting = [...chosen];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (needed.has(id)) continue;
    if (!project.cards.has(id)) {
      throw new UserError('not-found', `There is no card “${id}” in ${project.root}.`, { card: id });
    }
    needed.add(id);
    for (const wire of wiresTo.get(id) ?? []) waiting.push(wire.fromCard);
  }
  return ordered.filter((id) => needed.has(id));
}

const noCode: ArtifactRef = { kind: 'directory', digest: '0'.repeat(64), sizeBytes: 0, files: 0 };

async function freezeCard(
  project: LoadedProject,
  { id, folder, manifest, manifestPath, problems }: LoadedCard,
  wires: readonly Wire[],
  capture: CaptureCode,
  userFolder: string,
): Promise<FrozenCard> {
  const problem = problems.find(({ severity }) => severity === 'error');
  const faultOf = (detail: string, remedy?: string): Reason => ({
    kind: 'bad-card',
    detail: `${manifestPath}: ${detail}`,
    ...(remedy === undefined ? {} : { remedy }),
  });
  if (!manifest) return brokenCard(id, faultOf(problem?.message ?? 'it can’t be read'));
  const asked = permissionsOfCard(manifest);
  const opened = toAccess(asked, manifest.runtime, project.root, userFolder);
  const sources = new Map(wires.map((wire) => [wire.toPort, { card: wire.fromCard, port: wire.fromPort }]));
  const inputs = Object.entries(manifest.inputs ?? {}).map(([port, input]) => ({
    port,
    type: input.type,
    optional: input.optional ?? false,
    from: sources.get(port) ?? null,
  }));
  const unfed = inputs.find((input) => !input.optional && !input.from);
  let fault = problem
    ? faultOf(problem.message)
    : project.graph.cyclic.has(id)
      ? faultOf('it waits for its own result (a cycle)', 'Remove one wire of the cycle.')
      : unfed
        ? faultOf(`nothing feeds its input “${unfed.port}”`, 'Wire it with “from”, or make it optional.')
        : 'refused' in opened
          ? opened.refused
          : null;
  let code = noCode;
  if (!fault) {
    try {
      code = await capture(folder);
    } catch (error) {
      if (!(error instanceof UserError) || error.code === 'disk-full') throw error;
      fault = faultOf(error.message);
    }
  }
  return {
    id,
    title: manifest.title,
    runtime: manifest.runtime,
    entry: manifest.entry,
    code,
    inputs,
    outputs: Object.entries(manifest.outputs ?? {}).map(([port, output]) => ({
      port,
      type: output.type,
      optional: output.optional ?? false,
    })),
    params: Object.fromEntries(
      Object.entries(manifest.params ?? {}).map(([name, each]) => [name, each.default]),
    ),
    limits: { ...defaultCardLimits, ...definedOnly(manifest.limits ?? {}) },
    asked,
    access: 'access' in opened ? opened.access : closedAccess,
    vault: 'access' in opened ? opened.vault : [],
    place: manifest.permissions?.executionService ?? localPlace,
    viewOutput: manifest.view?.output ?? null,
    fault,
  };
}

function brokenCard(id: string, fault: Reason): FrozenCard {
  return {
    id,
    title: id,
    runtime: 'command',
    entry: '',
    code: noCode,
    inputs: [],
    outputs: [],
    params: {},
    limits: defaultCardLimits,
    asked: [],
    access: closedAccess,
    vault: [],
    place: localPlace,
    viewOutput: null,
    fault,
  };
}

function definedOnly(given: NonNullable<CardManifest['limits']>): Partial<JobLimits> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => Number.isInteger(value)));
}
