import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import type { JobAccess, JobSpec } from '../../protocol/src/runner.ts';
import { openRange, type Range } from '../hostile/cards/range.ts';
import { putBlob, putTree } from '../support/blobs.ts';

/** What a Python card finds when it looks around, as JSON. */
const inventory = `
import json, os, socket
def lines(path):
    with open(path) as file:
        return file.read().splitlines()
print(json.dumps({
    "environment": sorted(os.environ),
    "root": sorted(os.listdir("/")),
    "inputs": sorted(os.listdir(os.environ["SALLYPORT_INPUTS"])),
    "outputs": sorted(os.listdir(os.environ["SALLYPORT_OUTPUTS"])),
    "home": sorted(os.listdir(os.environ["HOME"])),
    "temporary": sorted(os.listdir(os.environ["TMPDIR"])),
    "card": sorted(os.listdir(os.path.dirname(os.path.abspath(__file__)))),
    "interfaces": [name for _, name in socket.if_nameindex()] if hasattr(socket, "if_nameindex") and os.environ.get("NETLINK") else [line.split(":")[0].strip() for line in lines("/proc/net/dev")[2:]],
    "routes": lines("/proc/net/route")[1:],
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
    "capabilities": [line.split()[1] for line in lines("/proc/self/status") if line.startswith("Cap")],
    "filter": [line.split()[1] for line in lines("/proc/self/status") if line.startswith(("NoNewPrivs", "Seccomp:"))],
    "users": [line.split(":")[0] for line in lines("/etc/passwd")] if os.path.exists("/etc/passwd") else [],
    "configuration": sorted(os.listdir("/etc")) if os.path.isdir("/etc") else [],
    "writable": sorted(folder for folder in ("/", "/usr", "/etc", "/card", "/in", "/dev", "/proc/sys", "/run", "/var") if os.access(folder, os.W_OK)),
}))
`;

interface Inventory {
  readonly environment: readonly string[];
  readonly root: readonly string[];
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly home: readonly string[];
  readonly temporary: readonly string[];
  readonly card: readonly string[];
  readonly interfaces: readonly string[];
  readonly routes: readonly string[];
  readonly processes: readonly number[];
  readonly descriptors: readonly number[];
  readonly capabilities: readonly string[];
  readonly filter: readonly string[];
  readonly users: readonly string[];
  readonly configuration: readonly string[];
  readonly writable: readonly string[];
}

const closed: JobAccess = { network: { kind: 'none' }, hostFolders: [] };

describe('floor rule 1: closed by default', () => {
  let range: Range | undefined;
  let seen: Inventory;

  before(async () => {
    range = await openRange();
    seen = await takeInventory(range, closed);
  });
  after(async () => {
    await range?.close();
  });

  it('the environment holds what docs/formats.md names, the words for paths and language, and nothing of the engine’s [FLOOR-01]', () => {
    const known =
      /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_[A-Z]+|PWD|SHLVL|_|OLDPWD|SALLYPORT_[A-Z]+|PYTHON[A-Z]+|NODE_PATH)$/;
    assert.deepEqual(
      seen.environment.filter((name) => !known.test(name) || name === 'SALLYPORT_TEST_SECRET'),
      [],
    );
    assert.ok(seen.environment.includes('SALLYPORT_PARAMS'), 'The control: what belongs there is there');
  });

  it('its folders hold its inputs and its code, and nothing else [FLOOR-01]', () => {
    assert.deepEqual(seen.inputs, ['given']);
    assert.deepEqual(seen.card, ['main.py']);
    assert.deepEqual([seen.outputs, seen.home, seen.temporary], [[], [], []]);
  });

  it('the machine’s own folders are not there, but /usr and what leads into it [FLOOR-01]', () => {
    for (const name of ['root', 'srv', 'mnt', 'media', 'boot', 'sys', 'opt', 'host', 'project', 'work'])
      assert.ok(!seen.root.includes(name), `/${name} is there: ${seen.root.join(' ')}`);
    assert.ok(seen.root.includes('usr'), 'The control: what belongs there is there');
  });

  it('nothing of the machine can be written [FLOOR-01]', () => {
    assert.deepEqual(seen.writable, []);
  });

  it('no account of the machine and no secret of /etc is there [FLOOR-01]', () => {
    for (const name of ['shadow', 'sudoers', 'ssh', 'ssl/private', 'machine-id', 'hostname', 'resolv.conf'])
      assert.ok(!seen.configuration.includes(name), `/etc/${name} is there`);
    assert.ok(
      seen.users.every((name) => ['root', 'card', 'nobody', 'user', 'sallyport'].includes(name)),
      seen.users.join(' '),
    );
  });

  it('the network is a loopback without a route [FLOOR-01]', () => {
    assert.deepEqual(
      seen.interfaces.filter((name) => name !== 'lo'),
      [],
    );
    assert.deepEqual(seen.routes, []);
  });

  it('it sees its own processes alone, few descriptors, no capability, and stands behind a filter [FLOOR-01]', () => {
    assert.ok(seen.processes.length <= 6, seen.processes.join(' '));
    assert.ok(
      seen.processes.every((pid) => pid < 100),
      seen.processes.join(' '),
    );
    // The fourth is for progress, the last is the listing itself.
    assert.ok(seen.descriptors.length <= 5, seen.descriptors.join(' '));
    assert.deepEqual(new Set(seen.capabilities), new Set(['0000000000000000']));
    assert.deepEqual(seen.filter, ['1', '2']);
  });

  it('an empty list of hosts opens nothing more [FLOOR-01]', async () => {
    assert.ok(range);
    const other = await takeInventory(range, { ...closed, network: { kind: 'hosts', hosts: [] } });
    assert.deepEqual(other.routes, []);
    assert.deepEqual(
      other.interfaces.filter((name) => name !== 'lo'),
      [],
    );
  });

  it('what is granted is there, so that its absence says something (control)', async () => {
    assert.ok(range);
    const open = await takeInventory(range, { ...closed, network: { kind: 'all' } });
    assert.ok(open.root.includes('usr'));
    const names = open.interfaces.filter((name) => name !== 'lo');
    if (names.length === 0) assert.deepEqual(open.routes, [], 'This machine has no network to show');
  });
});

async function takeInventory(range: Range, access: JobAccess): Promise<Inventory> {
  const { blobs } = range.engine;
  const job: JobSpec = {
    jobId: `inventory-${randomBytes(6).toString('hex')}`,
    cardId: 'inventory',
    runtime: 'python',
    entry: 'main.py',
    code: await putTree(blobs, { 'main.py': inventory }),
    inputs: [{ port: 'given', type: 'text', artifact: await putBlob(blobs, 'an input') }],
    outputs: [],
    params: '{}',
    limits: { ...defaultCardLimits, seconds: 60 },
    access,
  };
  const { result, stdout, stderr } = await range.client.run(job);
  assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 }, stderr);
  return JSON.parse(stdout) as Inventory;
}
