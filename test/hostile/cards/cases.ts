/** A failure of another tool that was reported in public, and what has to hold here instead. */
export interface PublicCase {
  readonly id: string;
  readonly report: string;
  /** What is tried. */
  readonly attack: string;
  readonly mustHold: string;
}

/** Those that a program in a card can try against the runner. Each is named by an attack in test-fixtures/hostile/cards. */
export const casesOfCards: readonly PublicCase[] = [
  {
    id: 'obsidian-plugins',
    report: 'https://retypeapp.github.io/obsidian/plugin-security',
    attack: 'code without a file permission reads the keys in ~/.ssh',
    mustHold: 'there is no such file',
  },
  {
    id: 'bubblewrap-142',
    report: 'https://github.com/containers/bubblewrap/issues/142',
    attack: 'TIOCSTI types into the terminal of whoever started the sandbox',
    mustHold: 'no terminal, and the call is refused',
  },
  {
    id: 'bubblewrap-j2qp',
    report: 'https://github.com/containers/bubblewrap/security/advisories/GHSA-j2qp-rvxj-43vj',
    attack: 'bubblewrap is installed setuid root',
    mustHold: 'isolation is refused with the reason',
  },
  {
    id: 'flatpak-7hgv',
    report: 'https://github.com/flatpak/flatpak/security/advisories/GHSA-7hgv-f2j8-xw87',
    attack: 'a folder that is shared with the program is replaced by a link before the next run',
    mustHold: 'the run is refused',
  },
  {
    id: 'sandbox-runtime-88',
    report: 'https://github.com/anthropic-experimental/sandbox-runtime/issues/88',
    attack: 'data leaves in the labels of a DNS query although no host is allowed',
    mustHold: 'no packet leaves',
  },
  {
    id: 'sandbox-runtime-empty-list',
    report: 'https://nvd.nist.gov/vuln/detail/CVE-2025-66479',
    attack: 'an empty list of hosts is taken for no restriction',
    mustHold: 'nothing is reachable',
  },
  {
    id: 'claude-code-87381',
    report: 'https://github.com/anthropics/claude-code/issues/87381',
    attack: 'a CONNECT is relayed to the proxy by a process inside the sandbox',
    mustHold: 'the same refusal',
  },
  {
    id: 'claude-code-86504',
    report: 'https://github.com/anthropics/claude-code/issues/86504',
    attack: 'a settings file in the project turns the sandbox off',
    mustHold: 'it is a file like any other',
  },
  {
    id: 'claude-code-15789',
    report: 'https://github.com/anthropics/claude-code/issues/15789',
    attack: 'what the program may not read itself is read for it by a tool of the host',
    mustHold: 'the host reads only what the program could',
  },
  {
    id: 'settings-not-there-yet',
    report: 'https://www.sentinelone.com/vulnerability-database/cve-2026-25725',
    attack: 'a settings or hook file that did not exist is created in the workspace',
    mustHold: 'nothing appears there',
  },
  {
    id: 'codex-37081',
    report: 'https://github.com/openai/codex/issues/37081',
    attack: 'a hook is written into a repository deep inside the workspace',
    mustHold: 'nothing appears there',
  },
  {
    id: 'codex-cwd',
    report: 'https://nvd.nist.gov/vuln/detail/CVE-2025-59532',
    attack: 'the program moves its working folder so that the writable part moves with it',
    mustHold: 'the same folders are writable, wherever it stands',
  },
  {
    id: 'codex-9292',
    report: 'https://github.com/openai/codex/issues/9292',
    attack: 'the kernel refuses the sandbox',
    mustHold: 'the run is refused with the reason, never done without',
  },
  {
    id: 'kilocode-11650',
    report: 'https://github.com/Kilo-Org/kilocode/issues/11650',
    attack: 'a Unix socket of the host is reached through a mounted folder',
    mustHold: 'it is not there',
  },
  {
    id: 'openshell-1169',
    report: 'https://github.com/NVIDIA/OpenShell/issues/1169',
    attack: 'the name of a host that is not allowed is looked up, with data in it',
    mustHold: 'no query for it',
  },
  {
    id: 'request-filtering-agent-2',
    report: 'https://github.com/azu/request-filtering-agent/issues/2',
    attack: 'a loopback address is written as an IPv4-mapped IPv6 one',
    mustHold: 'refused like the address itself',
  },
  {
    id: 'bashkit-980',
    report: 'https://github.com/everruns/bashkit/issues/980',
    attack: 'a folder is swapped for a link while the host reads it',
    mustHold: 'no content from outside',
  },
  {
    id: 'cursor-2026-22708',
    report: 'https://nvd.nist.gov/vuln/detail/CVE-2026-22708',
    attack: 'a variable or start-up file that one run left decides what the next one does',
    mustHold: 'nothing is left',
  },
  {
    id: 'nono-713',
    report: 'https://github.com/nolabs-ai/nono/issues/713',
    attack: 'the proxy is passed by',
    mustHold: 'there is no route but the proxy',
  },
  {
    id: 'greywall-55',
    report: 'https://github.com/GreyhavenHQ/greywall/issues/55',
    attack: 'sockets in /run are reached through a read-only mount',
    mustHold: 'there is no /run of the host',
  },
  {
    id: 'soleur-1557',
    report: 'https://github.com/jikig-ai/soleur/issues/1557',
    attack: 'in a container the sandbox is silently missing',
    mustHold: 'the probe finds it, and nothing runs',
  },
  {
    id: 'vscode-330312',
    report: 'https://github.com/microsoft/vscode/issues/330312',
    attack: 'a write leaves its folder by `..`, a link, or a path of another folder',
    mustHold: 'it stays, or it is refused',
  },
];

/** Shown by suites that are no fixture of a card: id → where. */
export const casesElsewhere: ReadonlyMap<string, string> = new Map([
  ['bubblewrap-j2qp', 'test/floor/rule3IsolationOrRefusal.test.ts'],
  ['codex-9292', 'test/floor/rule3IsolationOrRefusal.test.ts'],
  ['soleur-1557', 'test/floor/rule3IsolationOrRefusal.test.ts'],
]);

/*
 * Reports that were looked at and are no matter between a card and the runner. The reports about engines inside one
 * process (quickjs-emscripten 30, 60, 219, 255; bellard/quickjs 406, 492; quickjs-ng 1462; vm2 276, 533, 547 and
 * GHSA-cchq-frgv-rjh5; isolated-vm 516 and GHSA-864f-rcv7-6rh4; oneuptime 2324; Figma's realms) are attacks on `js`
 * cards: test/hostile/quickjs. microsoft/vscode 335118 is about paths of webview resources, and no card serves any;
 * CVE-2026-41612 is about a preview server, and there is none.
 */
