import { readFileSync } from 'node:fs';
import ssh2 from 'ssh2';
import type { AnyAuthMethod, BaseAgent, ParsedKey } from 'ssh2';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import type { SshTarget } from './sshConfig.ts';
import type { SshPerson } from './sshPerson.ts';
import { signerAgent } from './signerAgent.ts';

export interface SignInOptions {
  readonly target: SshTarget;
  readonly person: SshPerson;
}

const passwordTries = 3;
/** Of one round of questions; what a host asks is data. */
const mostPrompts = 16;
const promptCharacters = 4096;

/**
 * The ways to sign in to one host, tried in order: the person's agent, keys of the vault, key files, questions of the
 * host, a password. `tried` says afterwards, in words, what became of each.
 */
export class SignIn {
  readonly tried: string[] = [];
  readonly #options: SignInOptions;
  readonly #methods: AsyncGenerator<AnyAuthMethod, void, readonly string[] | null>;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#methods = this.#inOrder();
  }

  /** The next method, or false where there is none. `allowed` is what the host lets be tried; null before it said. */
  async next(allowed: readonly string[] | null): Promise<AnyAuthMethod | false> {
    const { value } = await this.#methods.next(allowed);
    return value ?? false;
  }

  async *#inOrder(): AsyncGenerator<AnyAuthMethod, void, readonly string[] | null> {
    const { target, person } = this.#options;
    const username = target.user;
    let allowed: readonly string[] | null = yield { type: 'none', username };
    const may = (method: string) => allowed === null || allowed.includes(method);
    if (may('publickey')) {
      const agent = target.agent === undefined ? undefined : await openAgent(target.agent, this.tried);
      if (target.agent === undefined) this.tried.push('no agent (SSH_AUTH_SOCK is not set)');
      if (agent && !target.identitiesOnly) allowed = yield { type: 'agent', username, agent };
    }
    if (may('publickey')) {
      const signers = await person.vaultKeys(target).catch(() => []);
      if (signers.length > 0) {
        this.tried.push(`keys of the vault: ${signers.map(({ name }) => name).join(', ')}`);
        allowed = yield { type: 'agent', username, agent: signerAgent(signers) };
      }
    }
    for (const file of target.identityFiles) {
      if (!may('publickey')) break;
      const key = await this.#readKey(file);
      if (key) allowed = yield { type: 'publickey', username, key };
    }
    if (may('keyboard-interactive')) allowed = yield this.#interactive(username);
    for (let count = 0; count < passwordTries && may('password'); count++) {
      const password = await this.#askPassword(count);
      if (password === undefined) return;
      allowed = yield { type: 'password', username, password };
    }
  }

  /** A private key of a file; undefined where there is none or it can't be used, which `tried` then says. */
  async #readKey(file: string): Promise<ParsedKey | undefined> {
    let text: Buffer;
    try {
      text = readFileSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.tried.push(`${file} (${errorMessage(error)})`);
      return undefined;
    }
    try {
      const parsed = ssh2.utils.parseKey(text);
      if (!(parsed instanceof Error)) return this.#usable(parsed, file);
      if (/encrypted|passphrase/i.test(parsed.message)) return await this.#unlockKey(file, text);
      this.tried.push(`${file} (${keyFault(text)})`);
      return undefined;
    } finally {
      text.fill(0);
    }
  }

  async #unlockKey(file: string, text: Buffer): Promise<ParsedKey | undefined> {
    for (let count = 0; count < passwordTries; count++) {
      const answers = await this.#options.person.askSecret({
        from: file,
        kind: 'passphrase',
        instructions: count === 0 ? '' : 'That was not it.',
        prompts: [{ text: `Passphrase for ${file}`, echo: false }],
      });
      const [passphrase] = answers ?? [];
      if (passphrase === undefined) {
        this.tried.push(`${file} (its passphrase was not given)`);
        return undefined;
      }
      const parsed = ssh2.utils.parseKey(text, passphrase);
      if (!(parsed instanceof Error)) return this.#usable(parsed, file);
    }
    this.tried.push(`${file} (wrong passphrase)`);
    return undefined;
  }

  #usable(parsed: ParsedKey, file: string): ParsedKey | undefined {
    if (parsed.isPrivateKey()) {
      this.tried.push(file);
      return parsed;
    }
    this.tried.push(`${file} (holds no private key)`);
    return undefined;
  }

  #interactive(username: string): AnyAuthMethod {
    const { person, target } = this.#options;
    return {
      type: 'keyboard-interactive',
      username,
      prompt: (name, instructions, _language, prompts, finish) => {
        if (prompts.length === 0) {
          finish([]);
          return;
        }
        const asked = [name, instructions, ...prompts.map(({ prompt }) => prompt)];
        if (prompts.length > mostPrompts || asked.some((text) => text.length > promptCharacters)) {
          this.tried.push('it asked more than anybody answers');
          finish([]);
          return;
        }
        const question = {
          from: target.host,
          kind: 'keyboard-interactive' as const,
          instructions: [name, instructions].filter((each) => each !== '').join('\n'),
          prompts: prompts.map(({ prompt, echo }) => ({ text: prompt, echo: echo ?? false })),
        };
        const decline = () => {
          this.tried.push('its questions were not answered');
          finish([]);
        };
        person.askSecret(question).then((answers) => (answers ? finish([...answers]) : decline()), decline);
      },
    };
  }

  async #askPassword(count: number): Promise<string | undefined> {
    const { person, target } = this.#options;
    const answers = await person
      .askSecret({
        from: target.host,
        kind: 'password',
        instructions: count === 0 ? '' : 'That was not it.',
        prompts: [{ text: `Password of ${target.user} on ${target.host}`, echo: false }],
      })
      .catch(() => null);
    this.tried.push(answers ? 'a password' : 'no password was given');
    return answers?.[0];
  }
}

/** Why no method was left, in words. */
export function signInFailed(target: SshTarget, tried: readonly string[]): UserError {
  const what =
    tried.length === 0 ? 'There was nothing to sign in with' : `Tried: ${[...new Set(tried)].join('; ')}`;
  return new UserError('sign-in', `${target.host} does not let ${target.user} in. ${what}`, {
    remedy:
      'Add a key that the host knows to your agent, or name its file with IdentityFile in your SSH configuration.',
  });
}

/** What is wrong with a key file, without a word of what is in it. */
function keyFault(text: Buffer): string {
  const head = text.toString('latin1', 0, 200);
  return /-----BEGIN (ENCRYPTED )?PRIVATE KEY-----/.test(head)
    ? 'it is in the PKCS#8 format: convert it to OpenSSH’s with “ssh-keygen -p -f FILE”, or add it to your agent'
    : 'its format is not known';
}

/** Asks the agent for its keys, so that one that is not there and one that has none are told apart. */
async function openAgent(socket: string, tried: string[]): Promise<BaseAgent | undefined> {
  const agent = ssh2.createAgent(socket);
  return new Promise((resolve) => {
    agent.getIdentities((error, keys) => {
      if (error) tried.push(`the agent at ${socket} does not answer`);
      else tried.push(keys && keys.length > 0 ? `${keys.length} keys of the agent` : 'the agent has no keys');
      resolve(!error && keys && keys.length > 0 ? agent : undefined);
    });
  });
}
