import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Bash, InMemoryFs } from 'just-bash';
import { runShell, type RunShellOptions } from '../../../../../language-server/src/agent/shell/runShell.ts';
import type { ShellLimits } from '../../../../../language-server/src/agent/shell/shellMessages.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';

const script = resolve('language-server/src/agent/shell/shellWorker.ts');
const limits: ShellLimits = {
  seconds: 50,
  outputBytes: 10_000,
  fileBytes: 1024 * 1024,
  totalBytes: 32 * 1024 * 1024,
  entriesPerFolder: 1000,
};

describe('the shell in memory', () => {
  const folder = useTemporaryFolder();
  const project = () => join(folder(), 'project');
  beforeEach(() => {
    mkdirSync(join(project(), '.git'), { recursive: true });
    mkdirSync(join(project(), 'src/.git'), { recursive: true });
    writeFileSync(join(project(), '.git/config'), 'token=canary');
    writeFileSync(join(project(), 'src/.git/config'), 'token=canary');
    writeFileSync(join(project(), 'notes.md'), 'one\ntwo\n');
    writeFileSync(join(project(), 'src/main.ts'), 'export const a = 1;\n');
    writeFileSync(join(folder(), 'outside'), 'canary');
    symlinkSync(join(folder(), 'outside'), join(project(), 'link'));
    symlinkSync(folder(), join(project(), 'up'));
  });
  const run = (command: string, options: Partial<RunShellOptions> = {}, changed: Partial<ShellLimits> = {}) =>
    runShell(
      {
        root: project(),
        command,
        hasInternet: options.fetch !== undefined,
        limits: { ...limits, ...changed },
      },
      {
        script,
        signal: new AbortController().signal,
        fetch: undefined,
        setTimer: (act, ms) => {
          const timer = setTimeout(act, ms);
          return () => clearTimeout(timer);
        },
        ...options,
      },
    );
  const finish = async (
    command: string,
    options: Partial<RunShellOptions> = {},
    changed: Partial<ShellLimits> = {},
  ) => {
    const end = await run(command, options, changed);
    if (end.kind !== 'end') assert.fail(JSON.stringify(end));
    return end;
  };

  it('runs bash and its tools over the project', async () => {
    const end = await finish('grep -c o notes.md; find . -type f | sort; cd src && pwd');
    assert.equal(end.stdout, '2\n./notes.md\n./src/main.ts\n/project/src\n');
    assert.equal(end.exitCode, 0);
    assert.deepEqual(end.files, []);
  });

  it('has room for files of real size', async () => {
    const lines = Array.from({ length: 100_000 }, (_, line) => `${line},${line % 7}`).join('\n');
    writeFileSync(join(project(), 'data.csv'), `${lines}\n`);
    const end = await finish(
      `wc -l < data.csv; grep -c ,3 data.csv; awk -F, '{ s += $2 } END { print s }' data.csv; sed -n 99999p data.csv; sort -t, -k2 data.csv | head -1; cut -d, -f2 data.csv | sort | uniq -c | wc -l`,
    );
    assert.deepEqual(
      end.stdout.split('\n').map((line) => line.trim()),
      ['100000', '14286', '299995', '99998,3', '0,0', '7', ''],
      end.stderr,
    );
  });

  it('[SHELL-06] tells the status of the command itself', async () => {
    for (const [command, status] of [
      ['exit 7', 7],
      ['false | true', 0],
      ['set -o pipefail; false | true', 1],
      ['nothing-of-this-name', 127],
      ['if', 2],
    ] as const)
      assert.equal((await finish(command)).exitCode, status, command);
  });

  it('[SHELL-01] sees nothing of this machine', async () => {
    const attacks = [
      'cat /etc/passwd',
      'cat /proc/self/environ',
      `cat ${join(folder(), 'outside')}`,
      'cat ../outside ../../../../../etc/passwd',
      'ln -s / l && cat l/etc/passwd',
      'cat < /etc/passwd',
      '/usr/bin/id; /bin/sh -c id; exec id; command id; env id',
      'python3 -c 1; node -e 1; js-exec x; sqlite3 x; curl http://127.0.0.1; wget x; git status; ssh x; nc x 1',
      'echo x > /dev/tcp/127.0.0.1/80',
      `awk 'BEGIN { system("id"); while (("cat /etc/passwd" | getline l) > 0) print l; getline < "/etc/passwd"; print }'`,
      `echo x | sed 'e id'; echo x | sed 's/x/id/e'; sed -n 'r /etc/passwd' notes.md; sed 'w /etc/x' notes.md`,
      'find . -exec /usr/bin/id \\; ; echo a | xargs -I{} /usr/bin/id; xargs -a /etc/passwd echo',
      `jq -n 'env, $ENV, input_filename, (try input catch .)'; jq -n --rawfile x /etc/passwd '$x'; jq -n 'include "/etc/passwd"; 1'`,
      `yq -n 'load("/etc/passwd")'; yq -n 'load_str("/etc/passwd")'; yq -n 'env(HOME), system("id")'`,
      'tar cf - /etc/passwd | tar xOf -; tar cf x notes.md --to-command=id; tar xf x --to-command=id',
      'echo "$(</etc/passwd)"; mapfile l < /etc/passwd; echo "${l[@]}"; . /etc/profile; source /etc/passwd',
      'date -f /etc/passwd; file -m /etc/passwd x; rg --pre id x .; diff /etc/passwd notes.md; sort --compress-program=id notes.md',
      'x=__proto__; declare -A a; a[__proto__]=1; a[constructor]=2; export constructor=1 __proto__=2; echo "${a[constructor]}"; printf -v __proto__ x',
      'cat /proc/1/environ /proc/self/cmdline /proc/self/maps /proc/self/fd/0 /dev/mem /dev/sda; ls /proc /dev /sys',
      'nslookup example.com; ping -c 1 example.com; getent hosts example.com',
    ];
    for (const attack of attacks) {
      const { stdout } = await finish(attack);
      assert.doesNotMatch(stdout, /root:|canary|uid=/, attack);
    }
    process.env['SALLYPORT_TEST_TOKEN'] = 'canary-of-the-environment';
    const { stdout } = await finish('env; ls /; whoami; hostname');
    delete process.env['SALLYPORT_TEST_TOKEN'];
    assert.doesNotMatch(stdout, /canary/);
    assert.doesNotMatch(stdout, new RegExp(`${process.env['HOME'] ?? '/root'}\\b`));
    assert.match(stdout, /home\nproject\ntmp\n/);
  });

  it('[SHELL-03] sees no link and no control folder of the project', async () => {
    const commands = [
      'ls -a; ls -a src',
      'cat link up/outside up/project/.git/config',
      'cat .git/config src/.git/config .GIT/config ./.git/../.git/config',
      'grep -r canary . ; find / -name config',
      'cp -r . /tmp/all && grep -r canary /tmp/all',
      'tar cf - . | strings',
    ];
    for (const command of commands) {
      const { stdout } = await finish(command);
      assert.doesNotMatch(stdout, /canary|config|\.git|link|up\b/, command);
    }
    // The control: the links do lead there for whoever follows them.
    assert.equal(readFileSync(join(project(), 'link'), 'utf8'), 'canary');
    assert.equal(readFileSync(join(project(), 'up/outside'), 'utf8'), 'canary');
  });

  it('[SHELL-04] keeps changes in memory and tells them', async () => {
    const end = await finish(
      'echo three >> notes.md; mkdir -p a/b; echo x > a/b/c; chmod +x a/b/c; mv src/main.ts src/other.ts; echo y > /tmp/y; touch notes2; rm notes2; cat notes.md > same; cp notes.md /tmp; ln -s notes.md l',
    );
    const told = end.files.map(({ path, content, mode }) => [
      path,
      content && Buffer.from(content).toString(),
      mode & 0o111,
    ]);
    assert.deepEqual(told, [
      ['a/b/c', 'x\n', 0o111],
      ['notes.md', 'one\ntwo\nthree\n', 0],
      ['same', 'one\ntwo\nthree\n', 0],
      ['src/main.ts', null, 0],
      ['src/other.ts', 'export const a = 1;\n', 0],
    ]);
    assert.deepEqual(end.links, ['l']);
    assert.equal(readFileSync(join(project(), 'notes.md'), 'utf8'), 'one\ntwo\n');
    assert.equal(existsSync(join(project(), 'a')), false);
  });

  it('[SHELL-04] tells every way of changing a file, and nothing that stayed as it was', async () => {
    for (const command of [
      'echo new > notes.md',
      'echo new >| notes.md',
      'echo new >> notes.md',
      'echo new | tee notes.md',
      'sed -i s/one/new/ notes.md',
      'cp src/main.ts notes.md',
      'mv src/main.ts notes.md',
      'cd /tmp && ln -s /project p && echo new > p/notes.md',
      'ln -s notes.md l && echo new > l',
      'touch -d 2001-01-01 notes.md && echo new > notes.md && touch -d 2001-01-01 notes.md',
      'echo new > x && mv x notes.md',
      'exec 3> notes.md; echo new >&3',
      'rm notes.md',
      'find . -name notes.md -delete',
      'find . -name notes.md -exec rm {} +',
      'mv /project/notes.md /tmp',
    ]) {
      const { files } = await finish(command);
      assert.ok(
        files.some(({ path }) => path === 'notes.md'),
        command,
      );
    }
    for (const command of [
      'cat notes.md > /dev/null',
      'cp notes.md /tmp/x',
      'echo a > x; rm x',
      'cat notes.md > y; mv y notes.md',
    ]) {
      assert.deepEqual((await finish(command)).files, [], command);
    }
  });

  it('[SHELL-02] forgets everything between two commands', async () => {
    await finish(
      'export X=1; alias ls="echo bad"; f() { echo bad; }; cd src; echo 1 > /tmp/x; echo 1 > new; set -o noclobber',
    );
    const { stdout } = await finish('echo "[$X]"; pwd; ls /tmp new; type f');
    assert.match(stdout, /^\[\]\n\/project\n/);
    assert.doesNotMatch(stdout, /bad|\/tmp\/x/);
    // The control: within one command all of it holds.
    const { stdout: one } = await finish('export X=1; f() { echo kept; }; echo "[$X]"; f');
    assert.equal(one, '[1]\nkept\n');
  });

  it('[SHELL-06] ends at its time, whatever it waits for, and says so', async () => {
    assert.deepEqual(await run('sleep 1000', {}, { seconds: 1 }), { kind: 'timeout', seconds: 1 });
    // The command's own time-out is an exit status like any other.
    assert.equal((await finish('timeout 0.1 sleep 1000')).exitCode, 124);
    let fire = () => {};
    const outside = run('sleep 1000', {
      setTimer: (act) => {
        fire = act;
        return () => undefined;
      },
    });
    fire();
    assert.deepEqual(await outside, { kind: 'timeout', seconds: limits.seconds });
  });

  it('[SHELL-05] ends endless loops, floods and bombs', async () => {
    for (const command of [
      'while true; do :; done',
      'f() { f; }; f',
      'x=a; while true; do x=$x$x; done',
      'yes() { echo y; yes; }; yes',
      'echo {1..100000000}',
      'f() { f | f & }; f',
      'awk "BEGIN { while (1) x = x \\"aaaaaaaaaaaaaaaa\\" }"',
      'head -c 999999999999 /dev/zero > big',
      'true;'.repeat(20_000),
    ]) {
      const end = await run(command, {}, { seconds: 1 });
      assert.ok(end.kind !== 'end' || end.exitCode !== 0 || end.files.length === 0, command);
    }
  });

  it('[SHELL-05] is cancelled at once', async () => {
    const controller = new AbortController();
    const running = run('sleep 1000', { signal: controller.signal });
    controller.abort();
    assert.deepEqual(await running, { kind: 'cancelled' });
    assert.deepEqual(await run('true', { signal: controller.signal }), { kind: 'cancelled' });
  });

  it('[SHELL-06] says how much of a long output is missing', async () => {
    const end = await finish('seq 1 9000', {}, { outputBytes: 1000 });
    assert.match(end.stdout, /^1\n2\n[^]*\[… \d+ characters left out …\]\n[^]*9000\n$/);
    assert.ok(end.cutStdout > 40_000);
    assert.equal(end.exitCode, 0);
  });

  it('gets the end of file where it reads its input', async () => {
    const end = await finish('read x; echo "$?"; cat; wc -c');
    assert.match(end.stdout, /^1\n\s*0\n$/);
  });

  it('[SHELL-08] has no way out but what the engine answers', async () => {
    assert.equal((await finish('curl -s http://example.com')).exitCode, 127);
    const asked: string[] = [];
    const end = await finish('curl -s https://example.com/a; curl -s http://10.0.0.1/ || echo refused', {
      fetch: async ({ url, method }) => {
        asked.push(`${method} ${url}`);
        if (url.includes('10.0')) throw new Error('it is private');
        return { status: 200, statusText: 'OK', headers: {}, body: new TextEncoder().encode('hello\n') };
      },
    });
    assert.equal(end.stdout, 'hello\nrefused\n');
    assert.deepEqual(asked, ['GET https://example.com/a', 'GET http://10.0.0.1/']);
  });

  it('[SHELL-01] is not what just-bash does by itself: its own file system is in memory too', async () => {
    const bash = new Bash({ fs: new InMemoryFs({ '/x': 'y' }) });
    assert.equal((await bash.exec('cat /x')).stdout, 'y');
  });
});
