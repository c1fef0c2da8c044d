import assert from 'node:assert/strict';
import fc from 'fast-check';
import { importBitwarden } from '../../../../extension/src/vault/core/importers/bitwardenJson.ts';
import { importDotenv } from '../../../../extension/src/vault/core/importers/dotenvFile.ts';
import { ImportError, toId, type Imported } from '../../../../extension/src/vault/core/importers/imported.ts';
import { importKeepassCsv } from '../../../../extension/src/vault/core/importers/keepassCsv.ts';
import { assertDraft } from '../../../../extension/src/vault/core/itemDrafts.ts';

const none = () => false;

/** Drafts with their values as text. */
function plain({ drafts, skipped }: Imported) {
  return {
    skipped,
    drafts: drafts.map((draft) => ({
      id: draft.id,
      title: draft.title,
      kind: draft.kind,
      hosts: draft.hosts,
      tags: draft.tags,
      fields: Object.fromEntries(
        draft.fields.map(({ name, value }) => [name, value?.use((bytes) => bytes.toString())]),
      ),
    })),
  };
}

describe('vault import', () => {
  describe('.env', () => {
    const lines: readonly [string, string | undefined][] = [
      ['A=x', 'x'],
      ['export A=x', 'x'],
      ['  A = x  ', 'x'],
      ['A=x # comment', 'x'],
      ['A=x#y', 'x#y'],
      ['A="x # y" # comment', 'x # y'],
      ["A='x $B \\n'", 'x $B \\n'],
      ['A="x\\n\\"y\\" \\$B \\q"', 'x\n"y" $B \\q'],
      ['A=`x "y"`', 'x "y"'],
      ['A="line\nnext"', 'line\nnext'],
      ['A=a=b==', 'a=b=='],
      ['\uFEFFA=x\r\n', 'x'],
      ['A=ключ🔑', 'ключ🔑'],
      ['A=', undefined],
      ['A=""', undefined],
    ];
    for (const [text, value] of lines)
      it(`[SEAL-14] ${JSON.stringify(text)}`, () => {
        const { drafts, skipped } = plain(importDotenv(text, none));
        assert.deepEqual(
          drafts.map(({ fields }) => fields['value']),
          value === undefined ? [] : [value],
        );
        assert.deepEqual(skipped, value === undefined ? [{ at: 1, why: 'no-value' }] : []);
      });

    it('[SEAL-14] names become ids, and none is taken twice', () => {
      const { drafts } = plain(
        importDotenv('DB_PASSWORD=a\nDB_PASSWORD=b\n# no\n\nTOKEN=c', (id) => id === 'token'),
      );
      assert.deepEqual(
        drafts.map(({ id, title, kind }) => [id, title, kind]),
        [
          ['db-password', 'DB_PASSWORD', 'token'],
          ['db-password-2', 'DB_PASSWORD', 'token'],
          ['token-2', 'TOKEN', 'token'],
        ],
      );
    });

    const wrong: readonly [string, number][] = [
      ['A=x\nnonsense', 2],
      ['A="open\nB=x', 1],
      ['\n\nA="x" y', 3],
      ['1A=x', 1],
    ];
    for (const [text, line] of wrong)
      it(`[SEAL-14] ${JSON.stringify(text)} is refused at line ${line}`, () => {
        assert.throws(
          () => importDotenv(text, none),
          (error: ImportError) => {
            assert.deepEqual([error.code, error.line], ['malformed', line]);
            assert.ok(!error.message.includes('x'));
            return true;
          },
        );
      });
  });

  describe('Bitwarden', () => {
    const file = {
      encrypted: false,
      folders: [{ id: 'f', name: 'Work' }],
      items: [
        {
          type: 1,
          name: 'Example',
          folderId: 'f',
          notes: 'a note',
          fields: [
            { name: 'PIN code', value: '1234', type: 1 },
            { name: 'linked', value: null, type: 3 },
          ],
          login: {
            username: 'me',
            password: 'secret',
            totp: 'otpauth://x',
            uris: [
              { uri: 'https://Example.org:8443/login' },
              { uri: 'androidapp://com.x' },
              { uri: 'shop.example' },
            ],
          },
        },
        { type: 2, name: 'Note', notes: 'text', secureNote: { type: 0 } },
        { type: 3, name: 'Card', card: {} },
        { type: 5, name: 'Key', sshKey: { privateKey: 'PRIVATE', publicKey: 'ssh-ed25519 AAAA' } },
        { type: 1, name: 'Empty', login: {} },
      ],
    };

    it('[SEAL-14] logins, notes and keys with fields, folder and hosts; what is left out is said', () => {
      assert.deepEqual(plain(importBitwarden(JSON.stringify(file), none)), {
        drafts: [
          {
            id: 'example',
            title: 'Example',
            kind: 'login',
            hosts: ['example.org:8443', 'shop.example'],
            tags: ['Work'],
            fields: {
              username: 'me',
              password: 'secret',
              totp: 'otpauth://x',
              address: 'https://Example.org:8443/login',
              'pin-code': '1234',
              notes: 'a note',
            },
          },
          { id: 'note', title: 'Note', kind: 'note', hosts: [], tags: [], fields: { notes: 'text' } },
          {
            id: 'key',
            title: 'Key',
            kind: 'keyPair',
            hosts: [],
            tags: [],
            fields: { 'private-key': 'PRIVATE', 'public-key': 'ssh-ed25519 AAAA' },
          },
        ],
        skipped: [
          { at: 3, why: 'kind' },
          { at: 5, why: 'no-value' },
        ],
      });
    });

    it('[SEAL-14] a protected export and what is none are refused without their text', () => {
      const codes = ['{"encrypted":true,"data":"x"}', '{"secret-canary', '[]', '{"items":{}}', 'null'].map(
        (text) => {
          try {
            importBitwarden(text, none);
            return 'read';
          } catch (error) {
            assert.ok(error instanceof ImportError && !error.message.includes('canary'));
            return error.code;
          }
        },
      );
      assert.deepEqual(codes, ['encrypted', 'malformed', 'malformed', 'malformed', 'malformed']);
    });
  });

  describe('KeePass', () => {
    it('[SEAL-14] KeePassXC: groups, quotes, line breaks and columns of its own', () => {
      const text =
        '"Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created","API Key"\r\n' +
        '"Root/Work","A ""quoted"" title","me","pa,ss\nword","https://example.org","two\nlines","","0","t","t","k"\r\n' +
        '"Root","Nothing","","","","","","0","t","t",""\r\n';
      assert.deepEqual(plain(importKeepassCsv(text, none)), {
        drafts: [
          {
            id: 'a-quoted-title',
            title: 'A "quoted" title',
            kind: 'login',
            hosts: ['example.org'],
            tags: ['Root/Work'],
            fields: {
              username: 'me',
              password: 'pa,ss\nword',
              address: 'https://example.org',
              notes: 'two\nlines',
              'api-key': 'k',
            },
          },
        ],
        skipped: [{ at: 2, why: 'no-value' }],
      });
    });

    it('[SEAL-14] KeePass 1 and unquoted cells', () => {
      const text =
        '\uFEFFAccount,Login Name,Password,Web Site,Comments\nOne,me,x,example.org,\n\nTwo,me,y,,z';
      assert.deepEqual(
        plain(importKeepassCsv(text, none)).drafts.map(({ id, fields }) => [id, fields['password']]),
        [
          ['one', 'x'],
          ['two', 'y'],
        ],
      );
    });

    const wrong: readonly [string, string, number | undefined][] = [
      ['', 'unknown-columns', undefined],
      ['"Title","URL"\n"a","b"', 'unknown-columns', undefined],
      ['Title,Password\na', 'malformed', 2],
      ['Title,Password\na,b\n"c,d', 'malformed', 3],
      ['Title,Password\na,b"c', 'malformed', 2],
      ['__proto__,Password\na,b,c', 'malformed', 2],
    ];
    for (const [text, code, line] of wrong)
      it(`[SEAL-14] ${JSON.stringify(text)} is refused`, () => {
        assert.throws(() => importKeepassCsv(text, none), { code, line });
      });

    it('[SEAL-14] a cell of a megabyte is read', () => {
      const value = '""x'.repeat(80_000);
      const { drafts } = importKeepassCsv(`Title,Password\na,"${value}"`, none);
      assert.equal(drafts[0]?.fields[0]?.value?.length, 160_000);
    });
  });

  it('[SEAL-14] whatever a file holds: drafts that can be saved, or an ImportError', () => {
    const importers = [importDotenv, importBitwarden, importKeepassCsv];
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      fc.string({
        unit: fc.constantFrom('A', '=', '"', "'", '\n', ',', '\\', '#', ' ', 'é', '\u202E', '\uD800'),
      }),
      fc.string().map((name) => JSON.stringify({ items: [{ type: 2, name, notes: name }] })),
      fc.tuple(fc.string(), fc.string()).map(([a, b]) => `Title,Password,${JSON.stringify(a)}\n"${b}",x,y`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const importer of importers) {
          try {
            for (const draft of importer(text, none).drafts) assertDraft(draft);
          } catch (error) {
            assert.ok(error instanceof ImportError, String(error));
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('ids', () => {
    assert.deepEqual(
      ['DB_PASSWORD', 'Ünïcode Näme', '123abc', '…', 'x'.repeat(100), 'a--b--'].map((text) =>
        toId(text, none),
      ),
      ['db-password', 'unicode-name', 'abc', 'item', 'x'.repeat(56), 'a-b'],
    );
  });
});
