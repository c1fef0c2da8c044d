import { noConnections, type Connections } from '../agent/providers/connections.ts';
import { lazyPart, type LazyPart } from '../lazyPart.ts';

/** A part of the engine that asks models. */
export interface ConnectionUser {
  setConnections(connections: Connections): void;
  dispose(): Promise<void>;
}

/** The lazy parts that ask models: each is told the connections, when it opens and at each change. */
export interface ConnectionUsers {
  add<P extends ConnectionUser>(start: () => Promise<P>): LazyPart<P>;
  set(connections: Connections): void;
  /** Ends those that were opened, the last added first. */
  dispose(): Promise<void>;
}

export function createConnectionUsers(onProblem: (error: unknown) => void): ConnectionUsers {
  const users: LazyPart<ConnectionUser>[] = [];
  let latest: Connections = noConnections;
  return {
    add: (start) => {
      const part = lazyPart(async () => {
        const user = await start();
        user.setConnections(latest);
        return user;
      });
      users.push(part);
      return part;
    },
    set: (connections) => {
      latest = connections;
      for (const part of users) {
        // One that can't be opened says so to whoever asked for it.
        part
          .opened()
          ?.then(
            (user) => user.setConnections(connections),
            () => undefined,
          )
          .catch(onProblem);
      }
    },
    dispose: async () => {
      for (const part of users.toReversed()) await (await part.opened()?.catch(() => undefined))?.dispose();
    },
  };
}
