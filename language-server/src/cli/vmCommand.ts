import { resolve } from 'node:path';
import type { VmStatus } from '../../../protocol/src/places.ts';
import { UsageError, usages } from './arguments.ts';
import { exitCodes } from './exitCodes.ts';
import type { Session } from './session.ts';
import { vmTerminal } from './vmTerminal.ts';
import { printable, size, table } from './terminal.ts';

/** `sallyport vm …`: the image that VMs on this machine start from, and a terminal in the VM of a project. */
export async function vmCommand(session: Session): Promise<number> {
  const { args, terminal } = session;
  const answer = (value: unknown, lines: readonly string[]) => {
    if (args.json) terminal.out(JSON.stringify(value));
    else for (const line of lines) terminal.out(line);
    return exitCodes.done;
  };
  const [act, named] = args.operands;
  const usage = () => new UsageError(`Usage: ${usages.vm}`);
  if (args.accept !== undefined && act !== 'import') throw usage();
  if (args.network && act !== 'terminal') throw usage();
  if (act === 'terminal' && !args.json) return vmTerminal(session);
  const takesFile = act === 'export' || act === 'import';
  if (takesFile !== (named !== undefined)) throw usage();
  const file = resolve(named ?? '');
  const onProgress = () => {
    let last = '';
    session.on('vm/progress', ({ text, fraction }) => {
      const line = `${String(Math.round(fraction * 100)).padStart(3)} %  ${printable(text)}`;
      if (line !== last) terminal.note(line);
      last = line;
    });
  };
  switch (act) {
    case 'export': {
      onProgress();
      const { digest, sizeBytes } = await session.call('vm/export', { file });
      return answer({ digest, sizeBytes }, [
        `Wrote the image to ${printable(file)}: ${size(sizeBytes)}`,
        `On the other computer: sallyport vm import FILE --accept ${digest}`,
      ]);
    }
    case 'import': {
      const found = await session.call('vm/import', { file, accept: args.accept ?? null });
      if (found.isInstalled) return answer(found, [...statusLines(found.status), 'Took the image in.']);
      if (args.accept !== undefined)
        terminal.note('This file is not the one that was accepted. Nothing was changed.');
      answer(found, [
        ...statusLines(found.status),
        'Compare this with what “vm export” said; to take in exactly this file, give the same command with',
        `--accept ${found.digest}`,
      ]);
      return exitCodes.permissionNeeded;
    }
    case 'status': {
      const status = await session.call('vm/status', {});
      return answer(status, statusLines(status));
    }
    case 'build': {
      onProgress();
      const built = await session.call('vm/build', {});
      return answer(built, [...statusLines(built.status), acceleratorLines[built.accelerator]]);
    }
    case 'remove': {
      const removed = await session.call('vm/remove', {});
      return answer(removed, [`Removed the VM image: ${size(removed.freedBytes)} freed.`]);
    }
    default:
      throw usage();
  }
}

const acceleratorLines = {
  kvm: 'VMs run on this machine’s own virtualisation (KVM).',
  tcg: 'No VM boots with KVM here: QEMU translates every instruction, which is several times slower and no less sealed.',
} as const;

function statusLines({ image }: VmStatus): string[] {
  if (!image) return ['There is no VM image. Build one: sallyport vm build'];
  const rows = image.packages.map(({ name, version, sizeBytes, licences }) => [
    printable(name),
    printable(version),
    size(sizeBytes),
    licences.length > 0 ? printable(licences.join(', ')) : 'see its copyright file',
  ]);
  return [
    ...table(rows),
    `Node ${printable(image.node)}`,
    `Built ${new Date(image.builtAt).toISOString().slice(0, 16).replace('T', ' ')}, ${size(image.sizeBytes)} on disk`,
    ...(image.isOutdated
      ? ['Another version of Sallyport built it. Build it again: sallyport vm build']
      : []),
  ];
}
