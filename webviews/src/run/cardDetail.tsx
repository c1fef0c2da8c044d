import { useCallback, useState } from 'react';
import type { CardRunView } from '../../../protocol/src/engine.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import { Button } from '../ui/button.tsx';
import { byteSize, duration } from '../ui/figures.ts';
import { StateLabel, stateWord } from '../ui/stateLabel.tsx';
import { Tabs, type Tab } from '../ui/tabs.tsx';
import { useAnswer } from '../ui/useAnswer.ts';
import { visibleText } from '../ui/visibleText.ts';
import { words } from '../ui/words.ts';
import { LogPane } from './logPane.tsx';
import { OutputView } from './outputView.tsx';
import type { RunClient } from './runClient.ts';

type TabId = 'result' | 'log' | 'details';
const tabs: readonly Tab<TabId>[] = [
  { id: 'result', label: words.tabs.result },
  { id: 'log', label: words.tabs.log },
  { id: 'details', label: words.tabs.details },
];

/** One card of the run: its result, its log, and how it went. A card without results opens on its log. */
export function CardDetail({ card, client }: { readonly card: CardRunView; readonly client: RunClient }) {
  const [chosen, setChosen] = useState<TabId>();
  const selected = chosen ?? (card.outputs.length > 0 || card.logLines === 0 ? 'result' : 'log');
  return (
    <main className="detail" aria-label={card.title}>
      <div className="detail-head">
        <h2>{card.title}</h2>
        <StateLabel shown={card.status} />
        <span className="muted">
          {placeText(card.status.place) === words.here
            ? card.runtime
            : `${card.runtime} · ${placeText(card.status.place)}`}
        </span>
      </div>
      {card.status.reason && card.status.state !== 'done' ? <Reason card={card} /> : null}
      <Tabs label={card.title} tabs={tabs} selected={selected} onSelect={setChosen}>
        {selected === 'result' ? <Result card={card} client={client} /> : null}
        {selected === 'log' ? <LogPane card={card} client={client} key={card.status.cardRunId} /> : null}
        {selected === 'details' ? <Details card={card} client={client} /> : null}
      </Tabs>
    </main>
  );
}

function Reason({ card }: { readonly card: CardRunView }) {
  const { reason } = card.status;
  if (!reason) return null;
  return (
    <div className={`reason reason-${card.status.state}`}>
      <p>
        {reason.kind === 'permission-needed'
          ? `${words.needsReview}: ${visibleText(reason.detail)}`
          : withCapital(visibleText(reason.detail))}
      </p>
      {reason.remedy === undefined ? null : <p className="muted">{visibleText(reason.remedy)}</p>}
    </div>
  );
}

function Result({ card, client }: { readonly card: CardRunView; readonly client: RunClient }) {
  const [port, setPort] = useState<string>();
  const output =
    card.outputs.find((each) => each.port === port) ??
    card.outputs.find((each) => each.isView) ??
    card.outputs[0];
  if (!output) {
    return <p className="nothing">{withoutOutput(card.status)}</p>;
  }
  return (
    <div className="result">
      <ul className="outputs" aria-label={words.outputs}>
        {card.outputs.map((each) => (
          <li key={each.port}>
            <button
              type="button"
              className="output"
              aria-pressed={each === output}
              onClick={() => setPort(each.port)}
            >
              <span>{each.port}</span>
              <span className="muted">{`${each.type} · ${byteSize(each.artifact.sizeBytes)}`}</span>
            </button>
          </li>
        ))}
        <li className="spring" />
        <li>
          <Button
            icon="open"
            label={words.open}
            onClick={() => void client.openOutput(card.id, output.port).catch(() => undefined)}
          />
        </li>
      </ul>
      <div className="shown">
        <OutputView card={card.id} output={output} client={client} />
      </div>
    </div>
  );
}

/** The engine's reason begins in the middle of a sentence; here it stands alone. */
function withCapital(text: string): string {
  return text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
}

function withoutOutput({ state, runMs }: CardRunView['status']): string {
  if (state === 'running' || state === 'queued') return words.noView;
  return runMs === null && state !== 'done' && state !== 'unknown' ? words.didNotRun : words.noOutputs;
}

function placeText(place: string | undefined): string {
  return place === undefined || place === localPlace ? words.here : visibleText(place);
}

function Details({ card, client }: { readonly card: CardRunView; readonly client: RunClient }) {
  const { status } = card;
  const question = useCallback(() => client.why(card.id), [client, card.id, status.cardRunId]);
  const why = useAnswer(question);
  const facts: (readonly [string, string])[] = [
    [words.columns.state, stateWord(status)],
    [words.place, placeText(status.place)],
    [words.isolation, status.isolation ?? '–'],
    [words.exitCode, status.exitCode === null ? '–' : String(status.exitCode)],
    [words.ranFor, status.runMs === null ? '–' : duration(status.runMs)],
    [words.waitedFor, status.waitMs === null ? '–' : duration(status.waitMs)],
    [words.columns.size, byteSize(status.outputBytes)],
  ];
  return (
    <div className="details" tabIndex={0} role="region" aria-label={words.tabs.details}>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{words.why}</h3>
      {why.kind === 'waiting' ? <p className="muted">{words.log.loading}</p> : null}
      {why.kind === 'failed' ? <p className="muted">{words.failed(why.message)}</p> : null}
      {why.kind === 'there' ? (
        <ul>
          {(why.value.length === 0 ? [words.whyNone] : why.value).map((line, index) => (
            <li key={index}>{visibleText(line)}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
