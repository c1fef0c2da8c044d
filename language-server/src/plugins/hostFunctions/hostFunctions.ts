import * as z from 'zod/mini';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import type { Principal } from '../../../../protocol/src/gate.ts';
import {
  hostCalls,
  type HostCallName,
  type HostParams,
  type HostResult,
} from '../../../../protocol/src/hostCalls.ts';
import type { GenerateKind } from '../../../../protocol/src/manifests.ts';
import { NotPlain, parsePlainJson } from '../../../../protocol/src/plainJson.ts';
import { pluginLimits } from '../../../../protocol/src/plugin.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import type { EgressNetwork } from '../../../../remote-agent/src/egressDial.ts';
import type { FrequentActs } from '../../gate/frequentActs.ts';
import type { ValueRequests } from '../../vault/valueRequests.ts';
import type { AppStorage } from '../appStorage.ts';
import type { Generate } from '../generate.ts';
import {
  assertMayGenerate,
  hostsOf,
  principalOf,
  storageLimitOf,
  wishesOf,
  type PluginIdentity,
} from '../rights.ts';
import { storageAct } from '../storageAct.ts';
import { toBytes, toContent } from './content.ts';
import { pluginFetch } from './pluginFetch.ts';

export interface HostFunctionOptions {
  readonly storage: AppStorage;
  readonly acts: Pick<FrequentActs, 'pass'>;
  readonly generate: Generate;
  readonly values: ValueRequests;
  /** A line of the egress log. */
  readonly recordEgress: (by: Principal, app: string, record: EgressRecord) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly createId: () => string;
  /** Replaced in tests. */
  readonly network?: EgressNetwork;
  readonly authorities?: string;
}

/** Does what one plugin asks for: JSON text in and out. Rejects with `BridgeError`. */
export type HostFunctions = (
  who: PluginIdentity,
  name: string,
  params: string,
  signal: AbortSignal,
) => Promise<string>;

type Table = {
  readonly [N in HostCallName]: (
    who: PluginIdentity,
    params: HostParams<N>,
    signal: AbortSignal,
  ) => Promise<HostResult<N>> | HostResult<N>;
};

/**
 * The host functions of plugins. Whose plugin asks is set by the worker that it asks from; the rights are looked at each
 * time, before anything is done; the storage is that of its own app, which no parameter can name.
 */
export function createHostFunctions(options: HostFunctionOptions): HostFunctions {
  const { storage, acts } = options;
  const store = <R>(
    who: PluginIdentity,
    tool: HostCallName,
    use: (app: string, limitBytes: number) => R,
  ): R => {
    const limitBytes = storageLimitOf(who.rights);
    return acts.pass(storageAct(principalOf(who), who.app, tool, limitBytes), () => use(who.app, limitBytes));
  };

  const generate =
    <K extends GenerateKind>(kind: K) =>
    (who: PluginIdentity, params: HostParams<`generate.${K}`>, signal: AbortSignal) => {
      assertMayGenerate(who.rights, kind);
      return options.generate(principalOf(who), kind, params, { signal });
    };

  const table: Table = {
    fetch: (who, params, signal) =>
      pluginFetch(params, {
        ...options,
        user: {
          principal: principalOf(who),
          scope: `app:${who.installation}`,
          hosts: hostsOf(who.rights),
          wishes: wishesOf(who.rights),
        },
        signal,
        record: (record) => options.recordEgress(principalOf(who), who.app, record),
      }),
    'storage.get': (who, { path, encoding }) =>
      store(who, 'storage.get', (app) => {
        const file = storage.get(app, path);
        if (!file) throw new BridgeError('not-found', 'There is no such file');
        const { bytes, sizeBytes, modifiedAt } = file;
        return { ...toContent(bytes, encoding), bytes: sizeBytes, modifiedAt };
      }),
    'storage.put': (who, { path, ...content }) =>
      store(who, 'storage.put', (app, limitBytes) =>
        shown(storage.put(app, path, toBytes(content), limitBytes)),
      ),
    'storage.list': (who, { prefix }) =>
      store(who, 'storage.list', (app) => ({ files: storage.list(app, prefix).map(shown) })),
    'storage.delete': (who, { path }) =>
      store(who, 'storage.delete', (app) => ({ found: storage.delete(app, path) })),
    'storage.quota': (who) =>
      store(who, 'storage.quota', (app, limitBytes) => ({
        usedBytes: storage.usage(app).usedBytes,
        limitBytes,
      })),
    'generate.text': generate('text'),
    'generate.image': generate('image'),
    'generate.speech': generate('speech'),
    'generate.embedding': generate('embedding'),
  };

  return async (who, name, text, signal) => {
    if (!isHostCall(name))
      throw new BridgeError('not-allowed', `There is no host function ${name.slice(0, 64)}`);
    const parsed = hostCalls[name].params.safeParse(parse(text));
    if (!parsed.success)
      throw new BridgeError('bad-params', `${name}: ${z.prettifyError(parsed.error).slice(0, 500)}`);
    const run = table[name] as (who: PluginIdentity, params: unknown, signal: AbortSignal) => unknown;
    return JSON.stringify(await run(who, parsed.data, signal));
  };
}

function isHostCall(name: string): name is HostCallName {
  return Object.hasOwn(hostCalls, name);
}

function parse(text: string): unknown {
  try {
    return parsePlainJson(text, pluginLimits.depth);
  } catch (error) {
    if (error instanceof NotPlain) throw new BridgeError('bad-params', error.message);
    throw error;
  }
}

function shown({ path, sizeBytes, modifiedAt }: { path: string; sizeBytes: number; modifiedAt: number }) {
  return { path, bytes: sizeBytes, modifiedAt };
}
