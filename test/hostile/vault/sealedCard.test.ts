import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EgressRecord, JobSpec } from '../../../protocol/src/runner.ts';
import { removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import type { VaultUse, VaultWish } from '../../../protocol/src/vault.ts';
import { sealValue } from '../../../extension/src/vault/sealValue.ts';
import { createBlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { JobAuthority } from '../../../remote-agent/src/vault/jobAuthority.ts';
import { putTree } from '../../support/blobs.ts';
import { createRepository, repositoryLog, serveGit } from '../../support/gitOrigin.ts';
import { jobWith } from '../../support/jobs.ts';
import { RunnerClient, type JobReport } from '../../support/runnerClient.ts';
import {
  createTestAuthority,
  echo,
  openSecureOrigin,
  type Answer,
  type SecureOrigin,
} from '../../support/secureOrigin.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

/** Real programs in a sealed card, with granted values, against servers on loopback. */
const token = 'canary-5f1c/Aa+Bb==29x';

describe('a sealed card that uses a vault value', () => {
  const temporary = useTemporaryFolder();
  let authority: JobAuthority;
  let origin: SecureOrigin;
  let answer: Answer;
  let runner: RunnerClient;
  let jobs = 0;

  beforeEach(async function () {
    authority = createTestAuthority();
    const extra = join(temporary(), 'authority.pem');
    writeFileSync(extra, authority.certificatePem);
    for (const name of ['blobs', 'scratch']) mkdirSync(join(temporary(), name));
    answer = echo;
    origin = await openSecureOrigin(authority, (...asked) => answer(...asked));
    runner = await RunnerClient.start({
      blobs: join(temporary(), 'blobs'),
      scratch: join(temporary(), 'scratch'),
      environment: { ...process.env, NODE_EXTRA_CA_CERTS: extra },
    });
    if (runner.hello.isolation.kind !== 'bubblewrap') {
      console.log('      skipped: no bubblewrap here');
      this.skip();
    }
  });
  afterEach(async () => {
    await runner.close();
    await origin.close();
  });

  const here = () => `127.0.0.1:${origin.port}`;
  const bearer = (): VaultUse => ({
    kind: 'header',
    hosts: [here()],
    name: 'authorization',
    prefix: 'Bearer ',
  });

  interface Try {
    readonly uses?: readonly VaultUse[];
    readonly network?: JobSpec['access']['network'];
    readonly runtime?: 'shell' | 'python' | 'node';
    readonly onLog?: (soFar: string) => void;
    readonly value?: string;
  }

  const run = async (script: string, tried: Try = {}): Promise<JobReport> => {
    const { uses = [bearer()], network = { kind: 'hosts', hosts: [here()] }, runtime = 'shell' } = tried;
    const entry = { shell: 'main.sh', python: 'main.py', node: 'main.mjs' }[runtime];
    const code = await putTree(join(temporary(), 'blobs'), { [entry]: script });
    const jobId = `job-${++jobs}`;
    const vault = uses.map((use, index) => {
      const wish: VaultWish = { item: 'api', field: 'token', use };
      const grant = `grant-${index}`;
      const recipient = runner.hello.vaultKey ?? '';
      return {
        grant,
        wish,
        sealed: sealValue(recipient, { jobId, grant, wish }, Buffer.from(tried.value ?? token)),
      };
    });
    return runner.run(
      jobWith({
        jobId,
        runtime,
        entry,
        code,
        vault,
        params: JSON.stringify({ url: `https://${here()}` }),
        outputs: [{ port: 'out', type: 'file', optional: true }],
        limits: { seconds: 30, memoryMB: 256, processes: 32, outputMB: 8, logMB: 1 },
        access: { network, hostFolders: [] },
      }),
      tried.onLog ? { onLog: tried.onLog } : {},
    );
  };

  const authorizations = () =>
    origin.seen.flatMap(({ headers }) =>
      headers.filter((_value, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'authorization'),
    );

  /** Everything that a job leaves: what it said, its results, and all files of the runner. */
  const everything = (report: JobReport): string =>
    JSON.stringify(report) +
    runner.complaints +
    readdirSync(temporary(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
      .join('\n');

  const assertNowhere = (report: JobReport) => {
    const all = everything(report);
    for (const spelling of [
      'canary-5f1c',
      Buffer.from(token).toString('base64'),
      Buffer.from(token).toString('hex'),
    ]) {
      assert.ok(!all.includes(spelling), spelling);
    }
  };

  const said = (report: JobReport) => `${report.stdout}\n${report.stderr}\n${JSON.stringify(report.result)}`;

  const clients: Readonly<
    Record<string, { readonly runtime: 'shell' | 'python' | 'node'; readonly script: string }>
  > = {
    curl: {
      runtime: 'shell',
      script: 'curl -sS -D - -H "Authorization: mine" "$(echo $SALLYPORT_PARAMS | cut -d\\" -f4)/a"',
    },
    'curl over HTTP/1.0': {
      runtime: 'shell',
      script: 'curl -sS -0 "$(echo $SALLYPORT_PARAMS | cut -d\\" -f4)/a"',
    },
    Python: {
      runtime: 'python',
      script:
        'import urllib.request\nfrom sallyport import params\nprint(urllib.request.urlopen(params["url"] + "/a").read().decode())',
    },
    Node: {
      runtime: 'node',
      script:
        "import { params } from 'sallyport';\nconst answer = await fetch(`${params.url}/a`);\nconsole.log(await answer.text());",
    },
  };
  for (const [name, { runtime, script }] of Object.entries(clients)) {
    it(`[VAULTUSE-03] asks with ${name}, which never holds the value`, async () => {
      const report = await run(script, { runtime });
      assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, said(report));
      assert.deepEqual(authorizations(), [`Bearer ${token}`]);
      assert.ok(report.stdout.includes(removedMark), report.stdout);
      assertNowhere(report);
    });
  }

  it('[VAULTUSE-03] clones, commits and pushes with git over HTTPS', async () => {
    createRepository(temporary());
    answer = serveGit(temporary(), `Basic ${Buffer.from(`git:${token}`).toString('base64')}`);
    const script = [
      'set -e',
      'export GIT_TERMINAL_PROMPT=0',
      `git clone -q https://${here()}/notes.git notes`,
      'cd notes',
      'git config user.name card; git config user.email card@example.org',
      'echo second >> notes.txt',
      'git commit -qam second',
      'git push -q origin main',
      'env; cat .git/config; git config -l',
    ].join('\n');
    const report = await run(script, { uses: [{ kind: 'basic', hosts: [here()], user: 'git' }] });
    assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, said(report));
    assert.deepEqual(repositoryLog(temporary()), ['second', 'first']);
    assertNowhere(report);
    // Negative control: without the grant git is turned away.
    const without = await run(script.replace(/env;.*/, ''), { uses: [] });
    assert.notDeepEqual(without.result.outcome, { kind: 'exited', exitCode: 0 });
  });

  it('[VAULTUSE-05] does not follow a redirect to another port, by any trick of curl', async () => {
    const other = await openSecureOrigin(authority, echo);
    answer = (_request, response) =>
      response.writeHead(307, { location: `https://127.0.0.1:${other.port}/stolen` }).end();
    try {
      const url = `https://${here()}/`;
      const report = await run(
        [
          `curl -sSL --location-trusted ${url}`,
          `curl -sS -H "Host: 127.0.0.1:${other.port}" ${url}`,
          `curl -sS --connect-to ${here()}:127.0.0.1:${other.port} ${url}`,
          `curl -sS --resolve evil.test:${origin.port}:127.0.0.1 https://evil.test:${origin.port}/`,
          'exit 0',
        ].join('\n'),
        { network: { kind: 'hosts', hosts: [here(), `127.0.0.1:${other.port}`] } },
      );
      assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, said(report));
      assert.equal(other.seen.length, 2, said(report));
      assert.ok(!JSON.stringify(other.seen).includes('canary-5f1c'));
      assertNowhere(report);
    } finally {
      await other.close();
    }
  });

  it('[VAULTUSE-09] gives a value in the environment, and takes it out of what the card says', async () => {
    const report = await run(
      'printf "%s\\n" "$DB_PASSWORD" | base64; echo "pw=$DB_PASSWORD" >&2; printf %s "$DB_PASSWORD" | od -An -tx1 | tr -d " \\n"; test -n "$DB_PASSWORD"',
      { uses: [{ kind: 'env', name: 'DB_PASSWORD' }], network: { kind: 'none' } },
    );
    assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, said(report));
    assert.equal(report.stderr, `pw=${removedMark}\n`);
    assertNowhere(report);
  });

  it('[VAULTUSE-09] gives a value from a descriptor, once, with no name in the environment but its number', async () => {
    const script = [
      'import os',
      'fd = int(os.environ["DB_FD"])',
      'with open(f"/dev/fd/{fd}") as file: text = file.read()',
      'print(len(text), text.count("\\n"), repr(text)[:9], [name for name, value in os.environ.items() if "canary" in value])',
    ].join('\n');
    const report = await run(script, {
      runtime: 'python',
      uses: [{ kind: 'fd', name: 'DB_FD' }],
      network: { kind: 'none' },
      value: `${token}\nEND_OF_TEXT\nlast line of it`,
    });
    assert.equal(report.stdout, `${token.length + 29} 3 'canary-5 []\n`, said(report));
  });

  it('[VAULTUSE-10] keeps no result that holds the value, in any spelling', async () => {
    for (const spell of ['cat', 'base64', 'xxd -p']) {
      const report = await run(
        `yes filler | head -c 1500000 > "$SALLYPORT_OUTPUTS/out"; printf %s "$A" | ${spell} >> "$SALLYPORT_OUTPUTS/out"`,
        { uses: [{ kind: 'env', name: 'A' }], network: { kind: 'none' } },
      );
      if (report.stderr.includes('xxd')) continue;
      assert.deepEqual(report.result.outputs, {});
      assert.match(report.result.outputProblems[0]?.detail ?? '', /holds a vault value/);
      assertNowhere(report);
    }
    // Negative control: without the value the same result is kept.
    const kept = await run('echo fine > "$SALLYPORT_OUTPUTS/out"', {
      uses: [{ kind: 'env', name: 'A' }],
      network: { kind: 'none' },
    });
    const out = kept.result.outputs['out'];
    assert.ok(out);
    assert.equal(createBlobStore(join(temporary(), 'blobs')).readBytes(out.digest).toString(), 'fine\n');
  });

  it('[VAULTUSE-11] is in no argument, environment or file outside the sandbox while it runs', async () => {
    let seen = '';
    const look = () => {
      const processes = readdirSync('/proc').filter(
        (name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid,
      );
      seen += processes.map((pid) => readQuietly(`/proc/${pid}/cmdline`)).join('\n');
      // The runner itself and bubblewrap's outer process, but not what runs inside.
      seen += readQuietly(`/proc/${runner.pid}/environ`);
      seen += spawnSync('grep', ['-raF', 'canary-5f1c', temporary()], { encoding: 'latin1' }).stdout;
    };
    let looked = false;
    const report = await run('echo up; sleep 0.5', {
      uses: [bearer(), { kind: 'env', name: 'TOKEN' }],
      onLog: () => {
        if (!looked) look();
        looked = true;
      },
    });
    await until(() => looked);
    assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, said(report));
    assert.ok(seen.includes('bwrap'));
    assert.ok(!seen.includes('canary-5f1c'), seen.slice(0, 2000));
  });

  it('refuses the job where a value can’t be used, and starts nothing', async () => {
    for (const tried of [
      { network: { kind: 'none' } as const },
      { network: { kind: 'all' } as const },
      { value: 'short' },
      { uses: Array.from({ length: 5 }, (_, index): VaultUse => ({ kind: 'fd', name: `F${index}` })) },
    ]) {
      const report = await run('echo ran', tried);
      assert.equal(report.result.outcome.kind, 'refused', said(report));
      assert.equal(report.started, false);
      assertNowhere(report);
    }
  });

  it('leaves no authority and no key behind', async () => {
    const report = await run(
      'cat /etc/sallyport/*.pem; ls -la /etc/sallyport; ! echo x > /etc/sallyport/authority.pem',
    );
    assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, said(report));
    assert.ok(!/PRIVATE KEY/.test(everything(report)));
    const records: readonly EgressRecord[] = report.egress;
    assert.deepEqual(records, []);
    const left = readdirSync(temporary(), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      left.filter((name) => /authorities\/./.test(name)),
      [],
    );
  });
});

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
