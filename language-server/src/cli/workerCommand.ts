import { hostname, userInfo } from 'node:os';
import { UsageError, usages } from './arguments.ts';
import { exitCodes } from './exitCodes.ts';
import type { Session } from './session.ts';
import { printable, table } from './terminal.ts';

/** What whoever keeps a worker does on its host: words of the runner program, which is started for them. */
export const keeperCommands: ReadonlySet<string> = new Set(['serve', 'invite', 'list', 'identity', 'remove']);

/** `sallyport worker join | known | forget`: the workers that this home is enrolled at. */
export async function workerCommand(session: Session): Promise<number> {
  const { args, terminal } = session;
  const [act, name, invitation] = args.operands;
  const answer = (value: unknown, lines: readonly string[]) => {
    if (args.json) terminal.out(JSON.stringify(value));
    else for (const line of lines) terminal.out(printable(line));
    return exitCodes.done;
  };
  if (act === 'known' && name === undefined) {
    const workers = await session.call('worker/list', {});
    const rows = workers.map((each) => [
      `worker:${each.name}`,
      `${each.host}:${each.port}`,
      each.fingerprint,
    ]);
    return answer({ workers }, rows.length > 0 ? table(rows) : ['This computer is enrolled at no worker.']);
  }
  if (act === 'forget' && name !== undefined && invitation === undefined) {
    const { found } = await session.call('worker/forget', { name });
    if (found) return answer({ found }, [`Forgot the worker ${name}.`]);
    if (args.json) terminal.out(JSON.stringify({ found }));
    terminal.note(printable(`There is no worker “${name}” here. Those that are: sallyport worker known`));
    return exitCodes.badProject;
  }
  if (act === 'join' && name !== undefined) {
    const code = invitation ?? (terminal.isInteractive ? await terminal.ask('Invitation: ') : '');
    if (code.trim() === '') throw new UsageError(`Usage: ${usages.worker}`);
    const worker = await session.call('worker/enrol', { name, code, as: args.as ?? ownName() });
    return answer({ worker }, [
      `Enrolled at ${worker.host}:${worker.port}, whose identity is ${worker.fingerprint}`,
      `A card runs there with "executionService": "worker:${worker.name}"`,
    ]);
  }
  throw new UsageError(`Usage: ${usages.worker}`);
}

function ownName(): string {
  return `${userInfo().username}@${hostname()}`.replace(/[^\p{L}\p{N} ._@-]/gu, '-').slice(0, 64);
}
