import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TerminalOutput } from '../../../../language-server/src/runners/vm/terminalOutput.ts';

const escape = '\u001b';

function shown(text: string): string {
  return new TerminalOutput().push(Buffer.from(text));
}

describe('what of a VM’s terminal output is shown', () => {
  const passes = [
    'plain, “wörds” 🙂\r\n\t\b\u0007',
    `${escape}[1;31mred${escape}[0m`,
    `${escape}[2J${escape}[10;20H${escape}[?1049h${escape}[?25l`,
    `${escape}(B${escape}7${escape}8${escape}=${escape}c`,
    `${escape}[6n${escape}[c`,
    `${escape}[38;2;1;2;3mcolour`,
  ];
  for (const text of passes)
    it(`passes ${JSON.stringify(text)}`, () => {
      assert.equal(shown(text), text);
    });

  const drops: readonly (readonly [what: string, text: string])[] = [
    ['writing the clipboard (OSC 52), ended by BEL', `${escape}]52;c;ZWNobyBoaQ==\u0007`],
    ['writing the clipboard, ended by ST', `${escape}]52;c;ZWNobyBoaQ==${escape}\\`],
    ['naming the window (OSC 0)', `${escape}]0;root@host\u0007`],
    ['a link that leads elsewhere (OSC 8)', `${escape}]8;;https://evil.example\u0007`],
    ['what speaks to VS Code (OSC 633)', `${escape}]633;E;rm -rf ~\u0007`],
    ['the same as single characters (C1)', '\u009d52;c;ZWNobyBoaQ==\u009c'],
    ['a question that answers with text of its own (DCS)', `${escape}P$q q${escape}\\`],
    ['strings of other kinds', `${escape}_a${escape}\\${escape}^b${escape}\\${escape}Xc${escape}\\`],
    ['the window’s operations, which can type its title', `${escape}[21t${escape}[8;1;1t`],
    ['single controls above 127', '\u0085\u008d'],
  ];
  for (const [what, text] of drops)
    it(`drops ${what}, and nothing beside it`, () => {
      assert.equal(shown(`before ${text}after`), 'before after');
    });

  it('begins anew with ESC within anything', () => {
    assert.equal(shown(`${escape}]52;c;x${escape}[1mbold`), `${escape}[1mbold`);
    assert.equal(shown(`${escape}[12${escape}]0;t\u0007text`), 'text');
    assert.equal(shown(`${escape}${escape}[1m`), `${escape}[1m`);
  });

  it('shows what follows a string that never ends', () => {
    assert.match(shown(`${escape}]0;${'x'.repeat(70_000)} and more`), /and more$/);
    assert.match(shown(`${escape}[${'1;'.repeat(100)}m and more`), /and more$/);
  });

  it('makes the same of every division into pieces', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        escape,
        `${escape}[`,
        `${escape}]`,
        '\u0007',
        `${escape}\\`,
        '\u009b',
        '\u009d',
        't',
        'm',
        ';',
        '5',
      ),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }),
        fc.array(fc.nat(200), { maxLength: 10 }),
        (parts, cuts) => {
          const bytes = Buffer.from(parts.join(''));
          const output = new TerminalOutput();
          const at = [
            0,
            ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ];
          const inPieces = at.slice(1).map((end, index) => output.push(bytes.subarray(at[index], end)));
          assert.equal(inPieces.join(''), new TerminalOutput().push(bytes));
        },
      ),
    );
  });

  it('never shows the beginning of a string of control', () => {
    const any = fc.array(
      fc.oneof(fc.constantFrom(escape, ']', 'P', '[', '\\', '52;c;', 't', '\u009d'), fc.string()),
    );
    fc.assert(
      fc.property(any, (parts) => {
        const text = shown(parts.join(''));
        const visible = text.replaceAll(escape, '<ESC>');
        assert.doesNotMatch(visible, /<ESC>[\]P_^X]|[\u0080-\u009f]|<ESC>\[[0-9;]*t/);
      }),
    );
  });
});
