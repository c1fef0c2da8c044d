import type { Requirement } from '../requirements.ts';

const source = 'docs/vm.md, What holds it';
const terminal = 'docs/vm.md, A terminal inside';

/** Cards in a VM of their project. */
export const vmRequirements: readonly Requirement[] = [
  {
    id: 'VM-01',
    text: 'A card runs in bubblewrap inside the VM, on another kernel, and its result comes back by content.',
    source,
  },
  {
    id: 'VM-02',
    text: 'The VM has no network device but where one was asked for, no folder of this machine, and QEMU runs in a sandbox of its own.',
    source,
  },
  {
    id: 'VM-03',
    text: 'KVM is used only where a VM has booted with it; that its device can be opened proves nothing.',
    source,
  },
  { id: 'VM-04', text: 'Each project has a VM of its own.', source },
  {
    id: 'VM-05',
    text: 'VMs that start from one stored VM share neither random numbers nor the time.',
    source,
  },
  {
    id: 'VM-06',
    text: 'A VM outlives the engine that started it, and the next engine finds it and its results.',
    source,
  },
  { id: 'VM-07', text: 'Cancelling ends the card in the VM; the VM goes on.', source },
  {
    id: 'VM-08',
    text: 'What a VM has not (folders of this machine, more memory) is refused in words.',
    source,
  },
  {
    id: 'VM-09',
    text: 'A card that was given a host reaches exactly that, from a VM with a network that its project’s other cards do not share.',
    source,
  },
  {
    id: 'VM-21',
    text: 'In a terminal a person is an ordinary user of the VM, who sees the machine and the files of cards that run, and can change none of it.',
    source: terminal,
  },
  {
    id: 'VM-22',
    text: 'A terminal reaches neither the runner’s socket, journal, blobs and memory nor a device or a network.',
    source: terminal,
  },
  {
    id: 'VM-23',
    text: 'The terminal’s SSH server lets in one key for one connection, shows one host key, which the VM told over its control port, and forwards nothing.',
    source: terminal,
  },
  {
    id: 'VM-24',
    text: 'Terminals of a project share one connection; output, input, size and exit code pass, and closing the last ends everything that was started in them.',
    source: terminal,
  },
];
