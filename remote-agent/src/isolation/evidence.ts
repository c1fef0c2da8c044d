/**
 * What each check of isolation has seen where it passed, for people. Said only after exactly that was found from inside a
 * sandbox; a check that failed says what it found instead, as it was found.
 */
export const evidence = {
  start: 'One was started here and answered.',
  files:
    'Writing to the system’s folders, the card’s code, its inputs and the kernel’s settings was refused; its outputs, scratch and home could be written.',
  descriptors: 'Its input, its output, its errors and its progress were open, and nothing else.',
  privileges:
    'It had no capability, could get none, not even through a set-user-ID program, and its system calls went through a filter.',
  namespaces: 'Making one was refused, and of this machine’s processes none could be seen.',
  network:
    'It had a loopback of its own and no other interface, and got no socket for IPv4, IPv6, the kernel’s network settings, raw packets or a virtual machine’s host.',
  seatbelt:
    'One was started here and answered; writing outside its outputs, reading a system file and connecting were refused.',
} as const;
