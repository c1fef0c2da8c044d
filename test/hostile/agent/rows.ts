/**
 * The rows of public failures of other agents that this suite answers. Each is a fixture in test-fixtures/hostile/agent
 * (whose name begins with it), or is shown by another suite, or can't concern Sallyport.
 */
export const rows: readonly string[] = [
  ...['A1', 'A2', 'A3', 'A4', 'A6', 'A7', 'A8', 'A10', 'A12'],
  ...['B1', 'B2', 'B3', 'B5', 'B6', 'B7'],
  ...['C1', 'C2', 'C3', 'C4', 'C6', 'C7', 'C8', 'C9', 'C10', 'C12', 'C13', 'C15', 'C17'],
  ...['D1', 'D2', 'D4', 'D5', 'D7', 'D8', 'D10'],
  ...['E1', 'E2', 'E3', 'E4', 'E6', 'E8', 'E9', 'E11', 'E12'],
  ...['F1', 'F2', 'F3', 'F4', 'F5', 'F7', 'F8', 'F9', 'F10', 'F12', 'F13'],
];

/** Rows that another suite shows: where, and what it shows. */
export const shownElsewhere: ReadonlyMap<string, { readonly file: string; readonly shows: string }> = new Map(
  [
    [
      'A10',
      {
        file: 'test/hostile/agent/effects.test.ts',
        shows:
          'every way in which code of the agent writes or starts something is accounted for, and passes the gate',
      },
    ],
    [
      'B2',
      {
        file: 'test/floor/rule5KeyOrigin.test.ts',
        shows: 'an address is saved by a person, and a key goes nowhere else; no setting names one (rule 9)',
      },
    ],
    [
      'B5',
      {
        file: 'test/floor/rule9OnlyAPerson.test.ts',
        shows:
          'no setting that a workspace can write names a command, an address or a permission, gone through one by one',
      },
    ],
    [
      'D1',
      {
        file: 'test/hostile/workbench/workbench.test.ts',
        shows:
          'no picture, style, link or other markup of an answer makes a request; unsealed, the same does',
      },
    ],
    [
      'D2',
      {
        file: 'test/hostile/workbench/workbench.test.ts',
        shows: 'no host is allowed for pictures, so there is no proxy to go through either',
      },
    ],
    [
      'F1',
      {
        file: 'test/floor/rule9OnlyAPerson.test.ts',
        shows: 'the engine listens nowhere, whatever it does',
      },
    ],
    [
      'F2',
      {
        file: 'test/floor/rule9OnlyAPerson.test.ts',
        shows: 'the same, before and after each request of its contract',
      },
    ],
    [
      'F5',
      {
        file: 'test/floor/rule3IsolationOrRefusal.test.ts',
        shows: 'bubblewrap that is missing, broken or forbidden: the run is refused with the reason',
      },
    ],
    [
      'F8',
      {
        file: 'test/floor/rule3IsolationOrRefusal.test.ts',
        shows: 'what isolation there is comes from a probe on this machine, never from its name',
      },
    ],
  ],
);

/** Rows about something that Sallyport does not have. Whoever adds that has to answer the row first. */
export const notHere: ReadonlyMap<string, string> = new Map([
  ['F3', 'about who may publish: nothing in this repository publishes, and no agent runs in its checks'],
  [
    'F4',
    'about the signing of releases: there are none yet; prompts are source and go through the same checks',
  ],
  ['F12', 'about unpacking archives of extensions: nothing unpacks an archive that somebody else made'],
]);
