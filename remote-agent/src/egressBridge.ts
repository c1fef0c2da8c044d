import type { ChildProcess } from 'node:child_process';
import { Server } from 'node:net';
import { UserError } from '../../protocol/src/errors.ts';

/**
 * How a sealed job reaches its egress proxy although its network namespace has only a loopback: the listening socket
 * is made inside that namespace and served from outside.
 *
 * Before the card starts, a small Node program in the sandbox (`helpers/egressBridge.cjs`) listens on
 * 127.0.0.1:3128, passes the socket to the runner over the `ipc` channel of `child_process` (SCM_RIGHTS, unix(7)) and
 * ends. The socket stays in the namespace, the runner accepts on it, and nothing of ours is left inside: no process to
 * stop, no Unix socket to be mounted or to be allowed, no second copy of every byte. A connection made before the
 * runner accepts waits in the kernel's queue, so the port is ready when the program has ended. The namespace goes with
 * the sandbox and the proxy.
 *
 * The launcher: spawns the sandbox with `ipc` at descriptor `channelDescriptor`; runs `bridgeCommand` in it first, to
 * its end, with `bridgeEnvironment`; starts the card without that descriptor and with `proxyEnvironment`; and gives
 * the server from `awaitListener` to `EgressProxy.listen`.
 */
export const egressBridge = { port: 3128, channelDescriptor: 6 } as const;

/** What a card's own libraries need to find the proxy. Everything goes through it, loopback included. */
export const proxyEnvironment: Readonly<Record<string, string>> = {
  HTTP_PROXY: `http://127.0.0.1:${egressBridge.port}`,
  HTTPS_PROXY: `http://127.0.0.1:${egressBridge.port}`,
  http_proxy: `http://127.0.0.1:${egressBridge.port}`,
  https_proxy: `http://127.0.0.1:${egressBridge.port}`,
  NO_PROXY: '',
  no_proxy: '',
  NODE_USE_ENV_PROXY: '1',
  /** For a Node that does not know the line above. */
  NODE_OPTIONS: '--require=/sallyport/nodeProxy.cjs',
};

/** For the bridge alone: the card must get neither the variables nor the descriptor. */
export const bridgeEnvironment: Readonly<Record<string, string>> = {
  NODE_CHANNEL_FD: String(egressBridge.channelDescriptor),
  NODE_CHANNEL_SERIALIZATION_MODE: 'json',
  ELECTRON_RUN_AS_NODE: '1',
};

/** The bridge as an argument list, of paths inside the sandbox. */
export function bridgeCommand(node: string, script: string): [string, ...string[]] {
  return [node, script, String(egressBridge.port)];
}

/**
 * The listening socket that the bridge of `sandbox` passes out. Call in the same turn as the spawn. Rejects with
 * `isolation-missing` where the sandbox ends, closes the channel or takes longer than `timeoutMs` first.
 */
export function awaitListener(sandbox: ChildProcess, timeoutMs = 10_000): Promise<Server> {
  return new Promise((settle, reject) => {
    const finish = (act: () => void): void => {
      clearTimeout(timer);
      sandbox.off('message', onMessage).off('exit', onEnd).off('disconnect', onEnd).off('error', onEnd);
      act();
    };
    const fail = (detail: string): void =>
      finish(() =>
        reject(new UserError('isolation-missing', `The network of the job could not be set up: ${detail}`)),
      );
    const onMessage = (_message: unknown, handle: unknown): void => {
      if (handle instanceof Server) finish(() => settle(handle));
      else fail('the bridge passed no socket');
    };
    const onEnd = (): void => fail('the bridge ended early');
    const timer = setTimeout(() => fail('the bridge did not start in time'), timeoutMs);
    sandbox.on('message', onMessage).on('exit', onEnd).on('disconnect', onEnd).on('error', onEnd);
  });
}
