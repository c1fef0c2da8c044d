import { StringDecoder } from 'node:string_decoder';

type State = 'text' | 'escape' | 'sequence' | 'string' | 'string-escape';

/**
 * Makes of a VM's terminal output what may be shown. Text passes, and so do the controls that move, colour and erase.
 * Strings of control (ECMA-48, 5.6: OSC, DCS, APC, PM, SOS) do not: with them output writes to the clipboard, names the
 * window, hides where a link leads, and speaks to the program that shows it. Nor do the window's operations, which some
 * terminals answer with text that was chosen by whoever asked. Where the pieces are cut makes no difference.
 */
export class TerminalOutput {
  readonly #decoder = new StringDecoder('utf8');
  #state: State = 'text';
  /** What was read of a sequence so far. */
  #held = '';
  #dropped = 0;

  push(bytes: Buffer): string {
    return this.#filter(this.#decoder.write(bytes));
  }

  #filter(text: string): string {
    let shown = '';
    for (const character of text) shown += this.#take(character);
    return shown;
  }

  #take(character: string): string {
    const code = character.codePointAt(0) ?? 0;
    switch (this.#state) {
      case 'text':
        return this.#text(character, code);
      case 'escape':
        return this.#escape(character, code);
      case 'sequence':
        return this.#sequence(character, code);
      case 'string':
        this.#dropped += 1;
        if (code === escape) this.#state = 'string-escape';
        else if (stringEnds.has(code) || this.#dropped > longestString) this.#state = 'text';
        return '';
      case 'string-escape':
        if (character === '\\') {
          this.#state = 'text';
          return '';
        }
        this.#begin('escape', '\u001b');
        return this.#escape(character, code);
    }
  }

  #text(character: string, code: number): string {
    if (code === escape) this.#begin('escape', character);
    else if (code === 0x9b) this.#begin('sequence', '\u001b[');
    else if (stringStarts.has(code)) this.#begin('string', '');
    else if (code < 0x80 || code > 0x9f) return character;
    return '';
  }

  /** After ESC: a short sequence of its own, or the beginning of a longer one. */
  #escape(character: string, code: number): string {
    if (code === escape) {
      this.#begin('escape', character);
      return '';
    }
    if (code < 0x20) return character;
    if (this.#held === '\u001b' && character === '[') {
      this.#begin('sequence', '\u001b[');
      return '';
    }
    if (this.#held === '\u001b' && 'P]X^_'.includes(character)) {
      this.#begin('string', '');
      return '';
    }
    this.#held += character;
    if (code >= 0x20 && code <= 0x2f && this.#held.length <= longestEscape) return '';
    this.#state = 'text';
    return code >= 0x30 && code <= 0x7e ? this.#held : '';
  }

  /** After ESC [: up to the final character (ECMA-48, 5.4). */
  #sequence(character: string, code: number): string {
    if (code === escape) {
      this.#begin('escape', character);
      return '';
    }
    if (code < 0x20) return character;
    this.#held += character;
    if (code >= 0x20 && code <= 0x3f && this.#held.length <= longestSequence) return '';
    this.#state = 'text';
    return code >= 0x40 && code <= 0x7e && character !== windowOperation ? this.#held : '';
  }

  #begin(state: State, held: string): void {
    this.#state = state;
    this.#held = held;
    this.#dropped = 0;
  }
}

const escape = 0x1b;
/** DCS, SOS, OSC, PM, APC as single characters. */
const stringStarts: ReadonlySet<number> = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);
/** BEL, CAN, SUB, ST. */
const stringEnds: ReadonlySet<number> = new Set([0x07, 0x18, 0x1a, 0x9c]);
const windowOperation = 't';
const longestString = 64 * 1024;
const longestSequence = 64;
const longestEscape = 4;
