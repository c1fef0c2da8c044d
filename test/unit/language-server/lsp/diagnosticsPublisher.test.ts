import assert from 'node:assert/strict';
import type { Diagnostic } from 'vscode-languageserver';
import { DiagnosticsPublisher } from '../../../../language-server/src/lsp/diagnosticsPublisher.ts';

function diagnostic(message: string): Diagnostic {
  return { message, range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } } };
}

function wordsOf({ message }: Diagnostic): string {
  return typeof message === 'string' ? message : message.value;
}

describe('DiagnosticsPublisher', () => {
  let sent: string[];
  let publisher: DiagnosticsPublisher;
  beforeEach(() => {
    sent = [];
    publisher = new DiagnosticsPublisher((path, found) => {
      sent.push(`${path}: ${found.map(wordsOf).join(' ')}`);
    });
  });
  const publish = (group: string, found: Readonly<Record<string, readonly string[]>>) => {
    sent.length = 0;
    publisher.publish(
      group,
      new Map(Object.entries(found).map(([path, messages]) => [path, messages.map(diagnostic)])),
    );
    return sent;
  };

  it('sends only what differs, and takes back what is gone', () => {
    assert.deepEqual(publish('project', { a: ['x'], b: ['y'] }), ['a: x', 'b: y']);
    assert.deepEqual(publish('project', { a: ['x'], b: ['z'] }), ['b: z']);
    assert.deepEqual(publish('project', { a: ['x'] }), ['b: ']);
    assert.deepEqual(publish('project', {}), ['a: ']);
    assert.deepEqual(publish('project', {}), []);
  });

  it('loses nothing where a file moves between groups, in either order', () => {
    publish('loose', { a: ['alone'] });
    assert.deepEqual(publish('project', { a: ['x'] }), ['a: alone x']);
    assert.deepEqual(publish('loose', {}), ['a: x']);
    assert.deepEqual(publish('project', {}), ['a: ']);
  });
});
