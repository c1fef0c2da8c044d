import type { Requirement } from '../requirements.ts';

const source = 'docs/vm.md, What holds it';
const folders = 'docs/vm.md, Folders of this computer';
const terminal = 'docs/vm.md, A terminal inside';
const costs = 'docs/vm.md, What a card costs there';
const mac = 'docs/vm.md, On a Mac';

/** Cards in a VM of their project. */
export const vmRequirements: readonly Requirement[] = [
  {
    id: 'VM-01',
    text: 'A card runs in bubblewrap inside the VM, on another kernel, and its result comes back by content.',
    source,
  },
  {
    id: 'VM-02',
    text: 'The VM has no network device and no folder of this machine but where one was asked for, and QEMU runs in a sandbox of its own.',
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
    text: 'What a VM has not (the project itself, more memory) is refused in words.',
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
  {
    id: 'VM-10',
    text: 'The server of a shared folder sees that folder alone, read-only unless writing was asked for; links and pipes in it lead nowhere outside.',
    source: folders,
  },
  {
    id: 'VM-11',
    text: 'A card is shown exactly the folders that it was given, in a VM of its project that has exactly those; what it writes is their owner’s.',
    source: folders,
  },
  {
    id: 'VM-12',
    text: 'What a card in a VM does in shared folders is under record and can be taken back; nothing writes there when nobody records.',
    source: folders,
  },
  {
    id: 'VM-13',
    text: 'What is not shown to cards here is not shown to a VM, and a folder that was replaced is another one.',
    source: folders,
  },
  {
    id: 'VM-14',
    text: 'The place tells the sum of its VMs: all their cards, and the state of the most telling.',
    source: 'docs/vm.md, How it lives',
  },
  {
    id: 'VM-15',
    text: 'VMs with a network start from a store of their own.',
    source: 'docs/vm.md, Build the image once',
  },
  {
    id: 'VM-31',
    text: 'On a Mac, vfkit is started in a sandbox of its own, for a machine with two disks, its ports and what was asked for.',
    source: mac,
  },
  {
    id: 'VM-32',
    text: 'What a VM on a Mac has not (a network, a folder that is kept from being written, disks that can be cloned) is refused in words; one that runs is found again and ends on order.',
    source: mac,
  },
  {
    id: 'VM-33',
    text: 'An image comes to another computer as one file, taken in whole and only under the digest that a person gave.',
    source: mac,
  },
  {
    id: 'VM-34',
    text: 'Where instructions are translated, a card’s program is at the same addresses at each start; nowhere else, and nothing outside its sandbox is.',
    source: costs,
  },
  {
    id: 'VM-35',
    text: 'The kernel clears away the network and the mounts of a sandbox when the card’s end was told, and nothing keeps them longer.',
    source: costs,
  },
  {
    id: 'VM-36',
    text: 'The processor that a VM sees lacks nothing that its kernel defends itself with against cards.',
    source: costs,
  },
];
