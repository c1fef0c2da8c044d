import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { fingerprint, judgeHostKey, knownHostsName, knownKeyTypes, wireKeyType } from './knownHosts.ts';
import type { SshTarget } from './sshConfig.ts';
import type { SshPerson } from './sshPerson.ts';
import type { TrustStore } from './trustStore.ts';

/** Host key algorithms by what they show, the preferred first. SHA-1 signatures are not taken. */
const offered = [
  { algorithm: 'ssh-ed25519', keyType: 'ssh-ed25519' },
  { algorithm: 'ecdsa-sha2-nistp256', keyType: 'ecdsa-sha2-nistp256' },
  { algorithm: 'ecdsa-sha2-nistp384', keyType: 'ecdsa-sha2-nistp384' },
  { algorithm: 'ecdsa-sha2-nistp521', keyType: 'ecdsa-sha2-nistp521' },
  { algorithm: 'rsa-sha2-512', keyType: 'ssh-rsa' },
  { algorithm: 'rsa-sha2-256', keyType: 'ssh-rsa' },
] as const;

/** Decides about the keys of one connection's host, reached through `via`. */
export class HostKeyChecks {
  readonly #store: TrustStore;
  readonly #via: readonly string[];
  readonly #mayAsk: boolean;

  constructor(store: TrustStore, via: readonly string[], mayAsk: boolean) {
    this.#store = store;
    this.#via = via;
    this.#mayAsk = mayAsk;
  }

  /** Those of which a key is known come first, so that a host is not mistaken for changed. Throws `unreadable`. */
  algorithms(target: SshTarget): string[] {
    const known = knownKeyTypes(this.#store.known(target.knownHostsFiles), target);
    const isKnown = ({ keyType }: (typeof offered)[number]) => known.has(keyType);
    return [...offered.filter(isKnown), ...offered.filter((each) => !isKnown(each))].map(
      ({ algorithm }) => algorithm,
    );
  }

  /** Undefined for a key that is trusted; otherwise why not. Never throws. */
  async check(target: SshTarget, key: Buffer, person: SshPerson): Promise<UserError | undefined> {
    try {
      return await this.#check(target, key, person);
    } catch (error) {
      if (error instanceof UserError) return error;
      return new UserError(
        'host-key',
        `The key of ${target.host} could not be judged: ${errorMessage(error)}`,
      );
    }
  }

  async #check(target: SshTarget, key: Buffer, person: SshPerson): Promise<UserError | undefined> {
    const verdict = judgeHostKey(this.#store.known(target.knownHostsFiles), target, key);
    const shown = {
      host: target.host,
      port: target.port,
      via: [...this.#via],
      keyType: wireKeyType(key),
      fingerprint: fingerprint(key),
    };
    const name = knownHostsName(target);
    switch (verdict.kind) {
      case 'trusted':
        return undefined;
      case 'revoked':
        return new UserError(
          'host-key',
          `${name} shows a key that is revoked (${shown.fingerprint}, ${verdict.where})`,
          {
            fingerprint: shown.fingerprint,
            remedy: 'Do not connect to it. Ask whoever runs the host.',
          },
        );
      case 'changed': {
        const known = verdict.known.map((entry) => ({
          keyType: entry.keyType,
          fingerprint: fingerprint(entry.key),
          where: entry.where,
        }));
        if (this.#mayAsk) await person.showChangedHostKey({ ...shown, known });
        const was = known.map((each) => `${each.keyType} ${each.fingerprint} (${each.where})`).join(', ');
        return new UserError(
          'host-key',
          `${name} shows another key than the one that is known: ${shown.keyType} ${shown.fingerprint} instead of ${was}`,
          {
            fingerprint: shown.fingerprint,
            known: known.map((each) => each.fingerprint),
            remedy:
              'Someone may be in between, or the host was set up anew. Ask whoever runs it; only then remove the known line.',
          },
        );
      }
      case 'unknown': {
        const authority = verdict.hasAuthority
          ? ' A certificate authority is known for it, but Sallyport does not check host certificates.'
          : '';
        const isAccepted = this.#mayAsk && (await person.confirmHostKey(shown));
        if (!isAccepted) {
          return new UserError(
            'host-key',
            `${name} is not known (${shown.keyType} ${shown.fingerprint}).${authority}`,
            {
              fingerprint: shown.fingerprint,
              isUnknown: true,
              remedy:
                'Run the card in VS Code, which asks you, or connect once with “ssh” in a terminal; compare the fingerprint.',
            },
          );
        }
        this.#store.add(target, key);
        return undefined;
      }
    }
  }
}
