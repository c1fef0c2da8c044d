import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAgentsVault } from '../../../../extension/src/vault/core/agentsVault.ts';
import { openPersonalVault } from '../../../../extension/src/vault/core/personalVault.ts';
import { fixtureKey, fixturePassword, makeFixtures } from '../../../support/vaultFixtures.ts';
import { quickDerivation } from '../../../support/vaultHarness.ts';

const fixtures = join(import.meta.dirname, '../../../../test-fixtures/vault');
const { cases: wanted, secretKey } = await makeFixtures();
if (process.env['UPDATE_GOLDENS'] === '1') write();

/** One folder for each case: a vault, broken in one way, and `expected.json`. */
describe('vault format', () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'sallyport-format-'))));
  afterEach(() => rmSync(root, { recursive: true }));

  it('[SEAL-05] the cases are those that are made', () => {
    assert.deepEqual(names(), [...wanted.keys()].sort());
    assert.ok(names().length > 60);
  });

  it('[SEAL-02] a vault made of the same random bytes has the same bytes: the format is the one of the fixtures', () => {
    for (const name of ['good', 'good-personal'])
      for (const [file, bytes] of Object.entries(wanted.get(name)?.files ?? {}))
        assert.deepEqual(bytes, readFileSync(join(fixtures, name, file)), `${name}/${file}`);
  });

  it('[SEAL-05] each differs from the good one', () => {
    const texts = names().map((name) =>
      JSON.stringify(filesOf(name).map((file) => readFileSync(join(fixtures, name, file), 'hex'))),
    );
    assert.equal(new Set(texts).size, texts.length);
  });

  for (const name of names()) {
    it(`[SEAL-05] ${name}`, async () => {
      const expected = JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8')) as object;
      const folder = join(root, 'vault');
      mkdirSync(folder);
      for (const file of filesOf(name)) cpSync(join(fixtures, name, file), join(folder, file));
      const result = await open(folder, name);
      if (result.state !== 'open') {
        assert.deepEqual({ ...result }, expected);
        // Untouched.
        assert.deepEqual(readdirSync(folder).sort(), filesOf(name));
        for (const file of filesOf(name))
          assert.deepEqual(readFileSync(join(folder, file)), readFileSync(join(fixtures, name, file)));
        return;
      }
      const items = result.vault.list().map(({ id }) => id);
      assert.deepEqual({ state: 'open', items }, expected);
      for (const id of items) {
        using value = await result.vault.open(id, 'password');
        assert.equal(
          value.use((bytes) => bytes.toString()),
          `value of ${id}`,
        );
      }
    });
  }
});

async function open(folder: string, name: string) {
  const place = { folder, counters: null, derive: quickDerivation };
  if (!/personal|scrypt/.test(name)) return openAgentsVault(place, fixtureKey());
  return openPersonalVault(place, { password: fixturePassword(), secretKey });
}

function names(): string[] {
  if (!existsSync(fixtures)) return [];
  return readdirSync(fixtures, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

function filesOf(name: string): string[] {
  return readdirSync(join(fixtures, name))
    .filter((file) => file !== 'expected.json')
    .sort();
}

function write(): void {
  for (const name of names()) rmSync(join(fixtures, name), { recursive: true });
  for (const [name, { files, expected }] of wanted) {
    mkdirSync(join(fixtures, name), { recursive: true });
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(fixtures, name, file), bytes);
    writeFileSync(join(fixtures, name, 'expected.json'), `${JSON.stringify(expected)}\n`);
  }
}
