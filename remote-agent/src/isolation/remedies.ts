import { existsSync, readFileSync } from 'node:fs';

/** What decides whether user namespaces may be made here. Undefined where the kernel has no such switch. */
export interface KernelFacts {
  /** Ubuntu 23.10 and later: 1 keeps programs without an AppArmor profile from making them. */
  readonly appArmorRestriction: string | undefined;
  /** Debian's and Arch's older switch: 0 keeps everybody but root from making them. */
  readonly unprivilegedClone: string | undefined;
  readonly maximumUserNamespaces: string | undefined;
  readonly isContainer: boolean;
}

export const installRemedy =
  'Install bubblewrap: sudo apt install bubblewrap (Debian, Ubuntu), sudo dnf install bubblewrap (Fedora), sudo pacman -S bubblewrap (Arch).';

export function readKernelFacts(): KernelFacts {
  return {
    appArmorRestriction: textOf('/proc/sys/kernel/apparmor_restrict_unprivileged_userns'),
    unprivilegedClone: textOf('/proc/sys/kernel/unprivileged_userns_clone'),
    maximumUserNamespaces: textOf('/proc/sys/user/max_user_namespaces'),
    isContainer:
      existsSync('/.dockerenv') || existsSync('/run/.containerenv') || existsSync('/run/systemd/container'),
  };
}

/** What a person can do about a sandbox that did not start, by bubblewrap's words and the switches of the kernel. */
export function explainStart(said: string, facts: KernelFacts): string {
  if (/unknown option|Unknown option/.test(said)) {
    return 'Update bubblewrap: this version lacks an option that sealed cards need (--bind-fd and --disable-userns, which came with the fix of CVE-2024-42472).';
  }
  if (facts.maximumUserNamespaces === '0') {
    return 'User namespaces are switched off. Run: sudo sysctl -w user.max_user_namespaces=15000 (and keep it in /etc/sysctl.d/).';
  }
  if (facts.unprivilegedClone === '0') {
    return 'User namespaces are for root only here. Run: sudo sysctl -w kernel.unprivileged_userns_clone=1 (and keep it in /etc/sysctl.d/).';
  }
  if (facts.appArmorRestriction === '1') {
    return [
      'AppArmor keeps bubblewrap from making user namespaces. Write this to /etc/apparmor.d/bwrap:',
      'abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, include if exists <local/bwrap> }',
      'and run: sudo apparmor_parser -r /etc/apparmor.d/bwrap. Then probe again.',
    ].join(' ');
  }
  if (facts.isContainer) {
    return 'This container may not make user namespaces. Start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, or run Sallyport on the host.';
  }
  return 'The kernel or a security module refused part of the sandbox. The words above name the part; “sallyport doctor” probes again.';
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
