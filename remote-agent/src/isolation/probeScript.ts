import type { IsolationCheck } from '../../../protocol/src/runner.ts';
import { evidence } from './evidence.ts';

/** Address families that a card without a network must not get a socket of: IPv4, IPv6, netlink, packet, vsock. */
const families = [2, 10, 16, 17, 40];
const outside = ['/', '/usr/', '/etc/', '/dev/', '/card/', '/in/', '/proc/sys/kernel/'];

interface Question {
  readonly id: keyof typeof evidence;
  readonly title: string;
  /** Every line that must be there; anything else is a failure. */
  readonly expected: readonly string[];
  readonly remedy: string;
}

const broken = 'This should not happen: please report it with the output of “sallyport doctor”.';

const questions: readonly Question[] = [
  {
    id: 'files',
    title: 'Nothing can be written outside the card’s own folders',
    expected: ['scratch written'],
    remedy: broken,
  },
  {
    id: 'descriptors',
    title: 'No open file of the runner is inherited',
    expected: ['0 1 2 3'],
    remedy: broken,
  },
  {
    id: 'privileges',
    title: 'No capability is left and system calls are filtered',
    expected: ['CapEff 0000000000000000', 'CapBnd 0000000000000000', 'NoNewPrivs 1', 'Seccomp 2'],
    remedy: 'The kernel needs seccomp filters (CONFIG_SECCOMP_FILTER).',
  },
  {
    id: 'namespaces',
    title: 'No further user namespace can be made, and only own processes are seen',
    expected: ['unshare refused', 'processes own'],
    remedy: broken,
  },
  {
    id: 'network',
    title: 'There is no network and no socket to reach one, the host or its virtual machine',
    expected: ['interfaces lo', 'sockets none'],
    remedy: 'Install perl or python3: the probe needs one of them to try sockets.',
  },
];

/** The shell text of the probe. Each line of its output is the id of a question and one finding. */
export function probeScript(hasFile: (path: string) => boolean): string {
  return `
for folder in ${outside.join(' ')}; do
  (: >"$folder/probe") 2>/dev/null && echo "files wrote $folder"
done
(: >/out/probe && : >/tmp/probe && : >/home/card/probe) 2>/dev/null && echo 'files scratch written'
open=; for file in /proc/self/fd/*; do [ -e "$file" ] && open="$open \${file##*/}"; done
echo "descriptors$open"
while read -r name value; do
  case $name in CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "privileges \${name%:} $value";; esac
done </proc/self/status
unshare=no
${hasFile('/usr/bin/unshare') ? '/usr/bin/unshare -U /bin/true 2>/dev/null && unshare=yes' : ''}
[ $unshare = no ] && echo 'namespaces unshare refused'
count=0; for process in /proc/[0-9]*; do count=$((count + 1)); done
[ $count -le 4 ] && echo 'namespaces processes own'
interfaces=; while read -r name _; do case $name in *:) interfaces="$interfaces \${name%:}";; esac; done </proc/net/dev
echo "network interfaces$interfaces"
${socketLine(hasFile)}
`;
}

/** Reads the findings. A question without exactly the expected lines failed, whatever the reason. */
export function judgeProbe(output: string): IsolationCheck[] {
  const lines = output.split('\n').filter((line) => line !== '');
  return questions.map(({ id, title, expected, remedy }) => {
    const found = lines.filter((line) => line.startsWith(`${id} `)).map((line) => line.slice(id.length + 1));
    const ok = found.length === expected.length && expected.every((line) => found.includes(line));
    if (ok) return { id, title, ok, detail: evidence[id] };
    const detail = found.length > 0 ? found.join(', ') : 'the probe said nothing';
    return { id, title, ok, detail, remedy };
  });
}

/** A shell can't make sockets; of the two languages that can and are nearly everywhere, perl starts faster. */
function socketLine(hasFile: (path: string) => boolean): string {
  const list = families.join(' ');
  if (hasFile('/usr/bin/perl')) {
    return `/usr/bin/perl -e 'my $n = 0; for my $f (@ARGV) { for my $t (1, 2, 3) { $n++ if socket(my $s, $f, $t, 0) } } print "network sockets ", $n || "none", "\\n"' ${list}`;
  }
  if (!hasFile('/usr/bin/python3')) return ':';
  return `/usr/bin/python3 -I -c '
import socket, sys
n = 0
for f in sys.argv[1:]:
    for t in (1, 2, 3):
        try: socket.socket(int(f), t).close(); n += 1
        except OSError: pass
print("network sockets", n or "none")' ${list}`;
}
