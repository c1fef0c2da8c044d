import * as z from 'zod/mini';
import { request } from './contract.ts';
import { interpreter, isolationReport } from './runner.ts';
import { slurmChoice } from './slurmChoice.ts';

/**
 * Where cards run. A place is named by an id, the same in `executionService` of a card, in the permission `execution`
 * and here: `local`, `vm`, or a kind and what it names, such as `ssh:lab`.
 */

export const placeKinds = ['local', 'vm', 'ssh', 'worker', 'slurm'] as const;
export const placeKind = z.enum(placeKinds);
export type PlaceKind = z.infer<typeof placeKind>;

/** The place where a card runs that names none. */
export const localPlace = 'local';

export interface PlaceName {
  readonly kind: PlaceKind;
  /** What the kind names: a host, a worker. Empty for `local` and `vm`. */
  readonly name: string;
}

/**
 * Takes a place's id apart; undefined for what is none. A name is one word of printable ASCII that does not begin with
 * `-` or `.`: it may become an argument of a program, and never one of its options.
 */
export function parsePlace(id: string): PlaceName | undefined {
  const [, kind = '', name] = /^([a-z]+)(?::(.*))?$/s.exec(id) ?? [];
  const known = placeKinds.find((each) => each === kind);
  if (!known) return undefined;
  const needsName = known !== 'local' && known !== 'vm';
  if (!needsName) return name === undefined ? { kind: known, name: '' } : undefined;
  return name !== undefined && namePattern.test(name) ? { kind: known, name } : undefined;
}

const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.@:[\]-]{0,254}$/;

/**
 * How things stand with a place; `asks` where it needs an answer that only a person gives, such as a password. Shown as
 * word and shape, never by colour alone.
 */
export const placeStates = ['closed', 'connecting', 'ready', 'lost', 'asks', 'refused'] as const;

export const placeView = z.strictObject({
  id: z.string(),
  kind: placeKind,
  state: z.enum(placeStates),
  /** Why it is lost or refused, and what a person can do; empty where nothing is wrong. */
  detail: z.string(),
  remedy: z.string(),
  /** What the runner there said of itself; null before the first connection. */
  facts: z.nullable(
    z.strictObject({
      platform: z.string(),
      node: z.string(),
      isolation: isolationReport,
      interpreters: z.array(interpreter),
      /** Jobs at once. */
      parallel: z.int(),
      freeBytes: z.number(),
    }),
  ),
  /** Jobs of this engine that run or wait there now. */
  running: z.int(),
  /** Milliseconds of the last exchange; null before the first. */
  latencyMs: z.nullable(z.number()),
});
export type PlaceView = z.infer<typeof placeView>;

/** A job that a place keeps: one that goes on there, or whose result was not fetched. */
export const heldJob = z.strictObject({
  jobId: z.string(),
  cardId: z.string(),
  state: z.enum(['queued', 'running', 'ended']),
  /** Milliseconds since the epoch, by the clock over there. */
  acceptedAt: z.number(),
  /** Milliseconds until it is ended because nobody asked for it; null for one that has ended. */
  leaseMs: z.nullable(z.number()),
  /** True where this engine's own records know it. */
  known: z.boolean(),
});
export type HeldJob = z.infer<typeof heldJob>;

const place = z.string();

export const placeChoices = z.strictObject({
  /** The kinds that this engine can use. */
  kinds: z.array(placeKind),
  /** Hosts that the person's SSH configuration names, without patterns. */
  sshHosts: z.array(z.string()),
});
export type PlaceChoices = z.infer<typeof placeChoices>;

/** A part of a text, by its characters, and what comes in its place. The parts of one change do not overlap. */
const textEdit = z.strictObject({ start: z.int(), end: z.int(), text: z.string() });

/** What the extension asks of the engine about places. */
export const placeRequests = {
  /** The places that the cards of the open projects name, and those in use. Connects nowhere. */
  'place/list': request(z.strictObject({}), z.array(placeView)),
  /** Connects where it is not connected, asks the person what has to be asked, and probes. */
  'place/check': request(z.strictObject({ place }), placeView, { timeoutMs: 0 }),
  'place/held': request(z.strictObject({ place }), z.array(heldJob), { timeoutMs: 0 }),
  /** Ends the jobs there and forgets them with their results. Without `jobIds`: all that are held there. */
  'place/release': request(
    z.strictObject({ place, jobIds: z.optional(z.array(z.string())) }),
    z.strictObject({ released: z.int() }),
    { timeoutMs: 0 },
  ),
  /** Closes the connection. Jobs there go on until their lease ends. */
  'place/disconnect': request(z.strictObject({ place }), z.strictObject({})),
  /** What a person can choose from. Reads names in the SSH configuration; connects nowhere. */
  'place/choices': request(z.strictObject({}), placeChoices),
  /** The change to the text of a `_card.json` by which the card runs in a place. Rejects with `bad-project` for text that can't be read. */
  'place/edit': request(
    z.strictObject({ text: z.string().check(z.maxLength(1_000_000)), place }),
    z.strictObject({ edits: z.array(textEdit) }),
  ),
} as const;

/** The image that VMs on this machine start from. */
export const vmStatus = z.strictObject({
  image: z.nullable(
    z.strictObject({
      builtAt: z.int(),
      /** Bytes on the disk: image, packages and the stored VM. */
      sizeBytes: z.number(),
      node: z.string(),
      packages: z.array(
        z.strictObject({
          name: z.string(),
          version: z.string(),
          sizeBytes: z.int(),
          /** As the distribution names them; empty where its file does not say so in a form that can be read. */
          licences: z.array(z.string()),
        }),
      ),
      /** True where this Sallyport can't start it any more. */
      isOutdated: z.boolean(),
    }),
  ),
});
export type VmStatus = z.infer<typeof vmStatus>;

export const vmRequests = {
  'vm/status': request(z.strictObject({}), vmStatus),
  /** Builds the image anew and stores a VM that has booted. Cancelling leaves the image as it was. */
  'vm/build': request(
    z.strictObject({}),
    z.strictObject({ status: vmStatus, accelerator: z.enum(['kvm', 'tcg']) }),
    { timeoutMs: 0 },
  ),
  /** Writes the image to a file (an absolute path), built where there is none, and says its SHA-256. */
  'vm/export': request(
    z.strictObject({ file: z.string() }),
    z.strictObject({ digest: z.string(), sizeBytes: z.number(), status: vmStatus }),
    { timeoutMs: 0 },
  ),
  /** Takes in an image from such a file where `accept` is its SHA-256, in place of the one before. Else says it alone. */
  'vm/import': request(
    z.strictObject({ file: z.string(), accept: z.nullable(z.string()) }),
    z.strictObject({ digest: z.string(), isInstalled: z.boolean(), status: vmStatus }),
    { timeoutMs: 0 },
  ),
  /** Ends the VMs of this engine and removes image and packages. */
  'vm/remove': request(z.strictObject({}), z.strictObject({ freedBytes: z.number() }), { timeoutMs: 0 }),
} as const;

/** What the extension hears about places. */
export const placeEvents = {
  /** How far building a VM's image is, 0 to 1. */
  'vm/progress': { params: z.strictObject({ text: z.string(), fraction: z.number() }) },
  'place/changed': { params: placeView },
} as const;

const hostKey = {
  place,
  /** The host as it was asked for, with its port. */
  host: z.string(),
  port: z.int(),
  /** Through which other hosts, in order. */
  via: z.array(z.string()),
  /** Such as `ssh-ed25519`. */
  keyType: z.string(),
  /** As OpenSSH shows it: `SHA256:` and base64 without padding. */
  fingerprint: z.string(),
};

/** What the engine asks of the person about places. Only native windows that the extension opened answer. */
export const placePersonRequests = {
  /** Where on a cluster the person's settings send cards. `bad-message` in words for a setting without form. */
  'place/slurm': request(z.strictObject({ place }), slurmChoice),
  /** A host that is connected to for the first time. Nothing was sent to it yet that could identify anyone. */
  'place/confirmHostKey': request(z.strictObject(hostKey), z.strictObject({ accepted: z.boolean() }), {
    timeoutMs: 5 * 60_000,
  }),
  /** A host whose key is another one than the one that is known. It was refused already; this says so. */
  'place/changedHostKey': request(
    z.strictObject({
      ...hostKey,
      known: z.array(z.strictObject({ keyType: z.string(), fingerprint: z.string(), where: z.string() })),
    }),
    z.strictObject({}),
    { timeoutMs: 5 * 60_000 },
  ),
  /** A password, a passphrase or a code. `prompts` come from the host: data, shown escaped. Null declines. */
  'place/askSecret': request(
    z.strictObject({
      place,
      /** Who asks: the host, or the key file whose passphrase is wanted. */
      from: z.string(),
      kind: z.enum(['password', 'passphrase', 'keyboard-interactive']),
      instructions: z.string(),
      prompts: z.array(z.strictObject({ text: z.string(), echo: z.boolean() })),
    }),
    z.strictObject({ answers: z.nullable(z.array(z.string())) }),
    { timeoutMs: 5 * 60_000 },
  ),
} as const;
