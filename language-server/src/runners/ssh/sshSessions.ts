import type { Duplex } from 'node:stream';
import { UserError } from '../../../../protocol/src/errors.ts';
import { HostKeyChecks } from './hostKeys.ts';
import { resolveRoute, type SshRoute, type SshSurroundings, type SshTarget } from './sshConfig.ts';
import { SshConnection } from './sshConnection.ts';
import { unattended, type SshPerson } from './sshPerson.ts';
import type { TrustStore } from './trustStore.ts';

export interface SshTimes {
  readonly connectMs: number;
  readonly keepaliveMs: number;
}

const sshTimes: SshTimes = { connectMs: 20_000, keepaliveMs: 15_000 };

export interface SshSessionsOptions {
  readonly around: SshSurroundings;
  readonly trust: TrustStore;
  readonly person: SshPerson;
  readonly times?: SshTimes;
}

export interface OpenSshOptions {
  readonly signal: AbortSignal;
  readonly mayAsk: boolean;
  readonly onStep?: (step: string) => void;
}

/** A connection to a host with all that it is reached through. Closing it closes them too. */
export interface SshSession {
  readonly target: SshTarget;
  readonly connection: SshConnection;
  /** Another connection over the same way, for a host that gives too few channels on one. */
  another(): Promise<SshConnection>;
  close(): void;
}

/** Opens connections to hosts of the person's SSH configuration: every kind of place over SSH begins here. */
export class SshSessions {
  readonly #options: SshSessionsOptions;

  constructor(options: SshSessionsOptions) {
    this.#options = options;
  }

  /**
   * Connects through every host on the way, each verified under its own name before anything is sent to it. Throws as
   * `SshConnection.open` and `resolveRoute` do.
   */
  async open(
    name: string,
    { signal, mayAsk, onStep = () => undefined }: OpenSshOptions,
  ): Promise<SshSession> {
    onStep(`Reading the SSH configuration of ${name}`);
    const route = await resolveRoute(name, this.#options.around);
    const open: SshConnection[] = [];
    const close = () => {
      for (const connection of [...open].reverse()) connection.close();
    };
    const connectLast = async (hops: SshRoute): Promise<SshConnection> => {
      const target = hops.at(-1);
      const before = open[hops.length - 2];
      if (!target) throw new UserError('bad-project', `${name} leads nowhere`);
      onStep(`Connecting to ${target.host}`);
      const via = hops.slice(0, -1).map(({ host }) => host);
      return SshConnection.open({
        target,
        through: before && (await through(before, hops.at(-2), target)),
        hostKeys: new HostKeyChecks(this.#options.trust, via, mayAsk),
        person: mayAsk ? this.#options.person : unattended(this.#options.person),
        signal,
        ...(this.#options.times ?? sshTimes),
      });
    };
    try {
      for (const index of route.keys()) open.push(await connectLast(route.slice(0, index + 1)));
    } catch (error) {
      close();
      throw error;
    }
    const [target, connection] = [route.at(-1), open.at(-1)];
    if (!target || !connection) throw new UserError('bad-project', `${name} leads nowhere`);
    // A host on the way that is lost ends what goes through it.
    for (const hop of open.slice(0, -1)) void hop.closed.then(() => connection.destroy());
    return {
      target,
      connection,
      another: async () => {
        const more = await connectLast(route);
        void connection.closed.then(() => more.destroy());
        return more;
      },
      close,
    };
  }
}

const administrativelyProhibited = 1;

async function through(hop: SshConnection, at: SshTarget | undefined, target: SshTarget): Promise<Duplex> {
  try {
    return await hop.openTcp(target.host, target.port);
  } catch (error) {
    const isForbidden = error instanceof UserError && error.data['reason'] === administrativelyProhibited;
    if (!isForbidden) throw error;
    throw new UserError(
      'incompatible',
      `${at?.host ?? 'The host on the way'} does not let connections through to ${target.host}`,
      { remedy: 'Its sshd_config must allow it: AllowTcpForwarding yes (or local).' },
      { cause: error },
    );
  }
}
