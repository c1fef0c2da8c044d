import { readdirSync, readFileSync } from 'node:fs';

/** The QEMU that runs a VM's folder, whatever sandbox it is in; undefined where none does. */
export function qemuOf(machine: string): number | undefined {
  return qemusOf(machine)[0];
}

/** Those that run the VMs of a folder that holds the folders of VMs. */
export function qemusOf(machines: string): number[] {
  return processesNamed('qemu-system').filter((pid) => machineOf(pid).startsWith(machines));
}

/** The processes whose name begins so. */
export function processesNamed(name: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && read(pid, 'comm').startsWith(name));
}

/** The servers of shared folders that have this one, mounted so. The folder may be all that they see. */
export function serversOf(folder: string, mode: 'ro' | 'rw' | '' = ''): number[] {
  return processesNamed('virtiofsd').filter((pid) =>
    mounts(pid).some(
      ([, , , root = '/', at = '', options = '']) =>
        root !== '/' && folder.endsWith(root) && /^\/(share)?$/.test(at) && options.startsWith(mode),
    ),
  );
}

/** The folder of this machine that a QEMU's console is written to. */
function machineOf(pid: number): string {
  return mounts(pid).find(([, , , , at]) => at === '/machine')?.[3] ?? '';
}

function mounts(pid: number): string[][] {
  return read(pid, 'mountinfo')
    .split('\n')
    .map((line) => line.split(' '));
}

/** Empty for a process that has ended. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
