import type { Page } from 'playwright-core';
import type { Item } from '../../protocol/src/agent.ts';
import type { ParamsOf, ResultOf } from '../../protocol/src/contract.ts';
import { workbenchHost, workbenchView } from '../../protocol/src/workbench.ts';
import { sampleSnapshot, type WorkbenchSnapshot } from './sampleConversation.ts';
import { openShell } from './shellPage.ts';
import type { ThemeName } from './themes.ts';

type Requests = (typeof workbenchHost)['requests'];

export interface WorkbenchFixture {
  readonly shown?: Partial<WorkbenchSnapshot>;
  /** All rows of the conversation, for reading what came before. */
  readonly all?: readonly Item[];
  readonly suggestions?: ResultOf<Requests['workbench/suggest']>['suggestions'];
  readonly theme?: ThemeName;
  /** Throw to refuse a message. */
  readonly onSend?: (message: ParamsOf<Requests['workbench/send']>) => void;
}

/** The workbench in the real shell. `asked` lists what it asked the extension for. */
export async function openWorkbenchShell(page: Page, url: string, fixture: WorkbenchFixture = {}) {
  const asked: { readonly method: string; readonly params: unknown }[] = [];
  const counts = { beats: 0, readies: 0 };
  const snapshot = sampleSnapshot(fixture.shown);
  const all = fixture.all ?? snapshot.items;
  const note = (method: string) => (params: unknown) => {
    asked.push({ method, params });
    return null;
  };
  const shell = await openShell(page, url, {
    local: workbenchHost,
    remote: workbenchView,
    ...(fixture.theme ? { theme: fixture.theme } : {}),
    notificationHandlers: {
      'workbench/beat': () => {
        counts.beats++;
      },
    },
    requestHandlers: {
      'workbench/ready': () => {
        counts.readies++;
        if (counts.readies > 1) shell.channel.notify('workbench/state', snapshot);
        return null;
      },
      'workbench/open': note('open'),
      'workbench/create': note('create'),
      'workbench/readBefore': ({ before, limit }) => ({
        items: all.filter(({ seq }) => seq < before).slice(-limit),
      }),
      'workbench/list': ({ query }) => ({
        conversations: snapshot.recent.filter(({ title }) =>
          title.toLowerCase().includes(query.toLowerCase()),
        ),
      }),
      'workbench/send': (params) => {
        fixture.onSend?.(params);
        return note('send')(params);
      },
      'workbench/stop': note('stop'),
      'workbench/configure': note('configure'),
      'workbench/suggest': ({ query }) => ({
        suggestions: (fixture.suggestions ?? []).filter(({ label }) => label.includes(query)),
      }),
      'workbench/act': note('act'),
    },
  });
  shell.channel.notify('workbench/state', snapshot);
  return { ...shell, asked, counts, snapshot };
}
