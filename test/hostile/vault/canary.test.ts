import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { createEngineServices, type EngineServices } from '../../../language-server/src/services.ts';
import { openProjects } from '../../../language-server/src/project/nodeProjects.ts';
import { createLocalRunner } from '../../../language-server/src/runners/local.ts';
import type { PersonSide } from '../../../language-server/src/agent/providers/personSide.ts';
import type { RunView } from '../../../protocol/src/engine.ts';
import { removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import type { AgentsVault } from '../../../extension/src/vault/core/agentsVault.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { ReleaseDesk } from '../../../extension/src/vault/releaseDesk.ts';
import { ReleasedValues } from '../../../extension/src/vault/releasedValues.ts';
import { runnerProgram } from '../../support/runnerClient.ts';
import {
  createTestAuthority,
  echo,
  openSecureOrigin,
  type SecureOrigin,
} from '../../support/secureOrigin.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { VaultHarness } from '../../support/vaultHarness.ts';

/**
 * The whole way of a value: saved in a vault, granted by a person, asked for by the engine, sealed to the runner, used by
 * a card that tries to leave it everywhere. Then everything that is left is searched for it.
 */
const token = 'canary-e3b0/Aa+Bb==29x';
const spellings = [
  'canary-e3b0',
  Buffer.from(token).toString('base64').slice(0, 20),
  Buffer.from(token).toString('hex').slice(0, 30),
  Buffer.from(` ${token}`).toString('base64').slice(4, 24),
  encodeURIComponent(token),
];
const signal = new AbortController().signal;

describe('a vault value in a whole run', () => {
  const temporary = useTemporaryFolder();
  let harness: VaultHarness;
  let vault: AgentsVault;
  let origin: SecureOrigin;
  let engine: EngineServices;
  let messages: string[];
  let released: ReleasedValues;
  let project: string;

  const write = (path: string, content: string | object) => {
    mkdirSync(join(project, path, '..'), { recursive: true });
    writeFileSync(join(project, path), typeof content === 'string' ? content : JSON.stringify(content));
  };

  beforeEach(async function () {
    const authority = createTestAuthority();
    origin = await openSecureOrigin(authority, echo);
    const extra = join(temporary(), 'authority.pem');
    writeFileSync(extra, authority.certificatePem);
    project = join(temporary(), 'project');
    const host = `127.0.0.1:${origin.port}`;
    write('sallyport.json', { version: 1, name: 'P', cards: ['cards/*'] });
    write('cards/load/_card.json', {
      version: 1,
      title: 'Load',
      runtime: 'shell',
      entry: 'main.sh',
      outputs: { answer: { type: 'text' } },
      permissions: {
        network: [host],
        vault: [
          {
            item: 'api',
            field: 'token',
            use: { type: 'header', hosts: [host], name: 'authorization', prefix: 'Bearer ' },
          },
        ],
      },
    });
    write(
      'cards/load/main.sh',
      `curl -sS "https://${host}/a" > "$SALLYPORT_OUTPUTS/answer" && cat "$SALLYPORT_OUTPUTS/answer"; env; cat /proc/self/environ | tr '\\0' '\\n'; ps axww 2>/dev/null; true\n`,
    );
    write('cards/leak/_card.json', {
      version: 1,
      title: 'Leak',
      runtime: 'python',
      entry: 'main.py',
      outputs: { out: { type: 'text', optional: true } },
      permissions: { vault: [{ item: 'api', field: 'token', env: 'TOKEN' }] },
    });
    write(
      'cards/leak/main.py',
      [
        'import base64, json, os, sys',
        'from sallyport import progress',
        't = os.environ["TOKEN"]',
        'progress(0.5, "with " + t)',
        'print(t); print(json.dumps({"t": t})); print(base64.b64encode((" " + t).encode()).decode()); print(t.encode().hex())',
        'print("\\033[1m" + t[:7] + "\\033[0m" + t[7:], file=sys.stderr)',
        'open(os.environ["SALLYPORT_OUTPUTS"] + "/out", "w").write(t)',
        'open(os.environ["SALLYPORT_OUTPUTS"] + "/" + base64.urlsafe_b64encode(t.encode()).decode(), "w").write("x")',
        'raise SystemExit("failed with " + t)',
      ].join('\n'),
    );
    harness = new VaultHarness();
    vault = await harness.create();
    using value = Secret.fromText(token);
    await vault.save({
      id: 'api',
      baseVersion: 0,
      title: 'API',
      kind: 'token',
      fields: [{ name: 'token', kind: 'secret', value }],
      hosts: [],
      tags: [],
      expiresAt: null,
    });
    released = new ReleasedValues();
    messages = [];
    const desk = new ReleaseDesk({
      openVaults: async () => [vault],
      hasLocked: () => false,
      released,
      now: () => harness.now,
    });
    // Every message between the two sides, as it would cross.
    const person: PersonSide = {
      ask: async (method, params) => {
        messages.push(JSON.stringify({ method, params }));
        if (method !== 'vault/release') throw new Error(`not asked here: ${method}`);
        const answer = await desk.release(params as Parameters<ReleaseDesk['release']>[0]);
        messages.push(JSON.stringify(answer));
        return answer as never;
      },
    };
    engine = createEngineServices({
      home: join(temporary(), 'home'),
      trusted: true,
      projects: openProjects({ roots: [project] }),
      programs: '/nowhere',
      person,
      notify: (method, params) => messages.push(JSON.stringify({ method, params })),
      onProblem: (problem) => messages.push(problem),
      createRunner: ({ blobs, scratch }) =>
        createLocalRunner({
          spawn: () =>
            spawn(process.execPath, [runnerProgram()], {
              stdio: 'pipe',
              env: { ...process.env, NODE_EXTRA_CA_CERTS: extra },
            }),
          blobs,
          scratch,
          maxJobs: 2,
          onProblem: (problem) => messages.push(problem),
        }),
    });
    const doctor = await engine.handlers['doctor/report']({}, signal);
    if (doctor.isolation.kind !== 'bubblewrap') {
      console.log('      skipped: no bubblewrap here');
      this.skip();
    }
    const review = await engine.handlers['permissions/review']({ root: project }, signal);
    const accepted = review.cards.map(({ id, permissions }) => ({
      card: id,
      keys: permissions.map(({ key }) => key),
    }));
    await engine.handlers['permissions/accept']({ root: project, digest: review.digest, accepted }, signal);
  });
  afterEach(async () => {
    await engine.dispose();
    await origin.close();
    harness.close();
  });

  const run = async (card: string): Promise<RunView> => {
    const { runId } = await engine.handlers['run/start'](
      { root: project, cards: [card], ignoreCache: true },
      signal,
    );
    await engine.whenFinished(runId);
    return engine.handlers['run/get']({ runId }, signal);
  };
  const grantAll = async () => {
    for (const { id } of vault.grants().filter(({ state }) => state === 'pending'))
      await vault.answer(id, 'accepted');
  };
  const logOf = async (view: RunView) => {
    const id = view.cards[0]?.status.cardRunId ?? '';
    const { lines } = await engine.handlers['log/read']({ cardRunId: id, fromLine: 0, count: 500 }, signal);
    return lines.map(({ text }) => text).join('\n');
  };

  const everything = (folder = temporary()): string =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map(
        (entry) =>
          `${entry.name}\n${entry.isFile() ? readFileSync(join(entry.parentPath, entry.name), 'latin1') : ''}`,
      )
      .join('\n') + messages.join('\n');
  const assertNowhere = () => {
    const all = everything() + everything(harness.root);
    for (const spelling of spellings)
      assert.ok(
        !all.includes(spelling),
        all.slice(Math.max(0, all.indexOf(spelling) - 200), all.indexOf(spelling) + 100),
      );
  };

  it('[VAULTUSE-12] starts only when a person has granted it, and uses it without ever holding it', async () => {
    const before = await run('load');
    assert.equal(before.cards[0]?.status.state, 'blocked');
    assert.equal(origin.seen.length, 0);
    assert.equal(vault.grants()[0]?.state, 'pending');
    await grantAll();
    const view = await run('load');
    assert.equal(view.cards[0]?.status.state, 'done', JSON.stringify(view.cards[0]?.status.reason));
    assert.ok(origin.seen[0]?.headers.includes(`Bearer ${token}`));
    const log = await logOf(view);
    assert.ok(log.includes(removedMark), log);
    const { records } = await engine.handlers['egress/list']({ root: project, limit: 50 }, signal);
    assert.ok(
      records.some(({ reason }) => reason.includes('put in: api.token')),
      JSON.stringify(records),
    );
    assert.deepEqual(
      vault.uses().map(({ principal, item }) => `${principal} ${item}`),
      ['card:load api'],
    );
    assertNowhere();
  });

  it('[VAULTUSE-11] leaves nothing of a value in home, logs, database, messages or results, whatever the card does with it', async () => {
    await run('leak');
    await grantAll();
    const failed = await run('leak');
    assert.equal(failed.cards[0]?.status.state, 'failed');
    write(
      'cards/leak/main.py',
      readFileSync(join(project, 'cards/leak/main.py'), 'utf8').replace(/raise.*/, ''),
    );
    const kept = await run('leak');
    assert.match(kept.cards[0]?.status.reason?.detail ?? '', /holds a vault value/);
    for (const view of [failed, kept]) assert.ok((await logOf(view)).includes(removedMark));
    assert.ok(messages.some((message) => message.includes('"progress"')));
    assertNowhere();
    // What goes to a model is freed of what this window released, wherever it came from.
    assert.equal(
      released.scrubber.text(JSON.stringify({ content: token })),
      JSON.stringify({ content: removedMark }),
    );
  });

  it('finds the value where it is let through', async () => {
    // Negative control: the same search over the same run, with the value in a file that the card reads.
    write('cards/leak/_card.json', {
      version: 1,
      title: 'Leak',
      runtime: 'shell',
      entry: 'main.sh',
      outputs: {},
    });
    write('cards/leak/main.sh', `printf '%s%s\\n' 'canary-e3' 'b0/Aa+Bb==29x'\n`);
    const view = await run('leak');
    assert.equal(view.cards[0]?.status.state, 'done');
    assert.throws(() => assertNowhere());
  });
});
