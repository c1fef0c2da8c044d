import assert from 'node:assert/strict';
import { join } from 'node:path';
import { columns } from '../../../extension/src/documents/columns.ts';
import {
  doctorReport,
  dryRunReport,
  egressReport,
  permissionText,
  whyReport,
} from '../../../extension/src/documents/reportTexts.ts';
import { timestamp } from '../../../extension/src/figures.ts';
import { assertGolden } from '../../support/golden.ts';
import { makeCard, makeProject } from '../../support/sampleViews.ts';

const request = {
  jobId: 'j',
  at: Date.UTC(2026, 2, 1, 9, 5, 7),
  method: 'CONNECT',
  host: 'api.example.org',
  port: 443,
  address: '192.0.2.7',
  verdict: 'allowed',
  reason: 'api.example.org is listed',
  sentBytes: 512,
  receivedBytes: 20_480,
  card: 'today',
  runId: 'r1',
} as const;

describe('reports', () => {
  it('read as their golden says', () => {
    const project = makeProject({ cards: [makeCard(), makeCard({ id: 'means', title: 'Monthly means' })] });
    const texts = [
      dryRunReport(project, [
        { id: 'load', action: 'cached', why: [], reason: null },
        { id: 'means', action: 'run', why: [{ part: 'code', detail: 'main.py' }], reason: null },
        {
          id: 'today',
          action: 'blocked',
          why: [],
          reason: { kind: 'permission-needed', detail: 'network:api.example.org' },
        },
      ]),
      whyReport('Monthly means', [
        { part: 'inputs', detail: 'weather' },
        { part: 'params', detail: 'year' },
      ]),
      whyReport('Load', []),
      doctorReport({
        isolation: {
          kind: 'bubblewrap',
          version: '0.8.0',
          limits: 'watchdog',
          checks: [
            { id: 'start', title: 'A sandbox starts', ok: true, detail: '' },
            {
              id: 'userns',
              title: 'User namespaces',
              ok: false,
              detail: 'Operation not permitted',
              remedy: 'Add the AppArmor rule of docs/troubleshooting.md',
            },
          ],
        },
        interpreters: [{ runtime: 'python', path: '/usr/bin/python3', version: '3.11.2' }],
        checks: [{ id: 'disk', title: 'State folder', ok: true, detail: '12 GB free' }],
        home: '/home/me/state',
        node: '24.21.0',
      }),
      egressReport(
        'weather',
        [
          request,
          {
            ...request,
            verdict: 'refused',
            host: '169.254.169.254',
            port: 80,
            address: undefined,
            reason: 'link-local\u202e',
          },
        ],
        true,
      ),
      egressReport('weather', [], false),
      permissionText('Today', `Read the folder /${'x'.repeat(100)}`),
    ];
    const text = texts
      .map((each) => each.text)
      .join('\n')
      .replaceAll(timestamp(request.at), 'TIME');
    assertGolden(join(import.meta.dirname, 'goldens', 'reports.txt'), text);
  });

  it('align columns whatever is in them', () => {
    assert.equal(
      columns([
        ['a', 'b', 'c'],
        ['größe', '', 'x'],
      ]),
      'a      b  c\ngröße     x',
    );
  });
});
