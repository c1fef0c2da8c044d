import { createContext, useContext } from 'react';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import type { workbenchHost } from '../../../protocol/src/workbench.ts';

type Requests = (typeof workbenchHost)['requests'];
export type Act = ParamsOf<Requests['workbench/act']>['act'];
export type Message = Omit<ParamsOf<Requests['workbench/send']>, 'id'>;
export type Suggestion = ResultOf<Requests['workbench/suggest']>['suggestions'][number];
export type Listed = ResultOf<Requests['workbench/list']>['conversations'];

/** What the workbench's parts ask of the extension. What it refuses becomes a sentence in the page. */
export interface WorkbenchClient {
  readonly act: (
    act: Act,
    about?: { readonly id?: string; readonly seq?: number; readonly value?: string },
  ) => void;
  /** Resolves once the engine has it; rejects where it does not, so that nothing typed is lost. */
  readonly send: (message: Message) => Promise<void>;
  readonly stop: () => void;
  readonly create: () => void;
  readonly open: (id: string) => void;
  readonly configure: (change: { mode?: 'plan' | 'act'; connection?: string; model?: string }) => void;
  readonly list: (query: string) => Promise<Listed>;
  readonly suggest: (query: string) => Promise<readonly Suggestion[]>;
  readonly readOlder: () => void;
  readonly readNewer: () => void;
  /** The last rows again. */
  readonly showLatest: () => void;
}

export const ClientContext = createContext<WorkbenchClient | undefined>(undefined);

export function useClient(): WorkbenchClient {
  const client = useContext(ClientContext);
  if (!client) throw new Error('The workbench has no client');
  return client;
}
