import { useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Announcer, LiveRegion } from '../ui/liveRegion.tsx';
import { Menu, type MenuItem } from '../ui/menu.tsx';
import { runSentence } from '../ui/runSentence.ts';
import { stateWord } from '../ui/stateLabel.tsx';
import { words } from '../ui/words.ts';
import { shownState } from './cardText.ts';
import { stateChanges, type CanvasProject, type CanvasState } from './canvasState.ts';
import { GraphView } from './graphView.tsx';
import { ListView } from './listView.tsx';

/** What a person can ask for here; the extension decides. */
export interface CanvasActions {
  readonly runProject: () => void;
  readonly cancel: () => void;
  readonly openRun: () => void;
  readonly reviewPermissions: () => void;
  readonly runCard: (card: string) => void;
  readonly openCode: (card: string) => void;
  readonly openManifest: (card: string) => void;
  readonly openResult: (card: string) => void;
}

export type CanvasMode = 'graph' | 'list';

export interface CanvasAppProps {
  readonly state: CanvasState;
  readonly actions: CanvasActions;
  readonly initialMode: CanvasMode;
  readonly onMode: (mode: CanvasMode) => void;
}

/** The canvas: toolbar, graph or list, the menu of a card, announcements. */
export function CanvasApp({ state, actions, initialMode, onMode }: CanvasAppProps) {
  const [mode, setMode] = useState(initialMode);
  const switchMode = () => {
    const next = mode === 'graph' ? 'list' : 'graph';
    setMode(next);
    onMode(next);
  };
  const { project } = state;
  if (!project) return <Empty text={state.message ?? words.loading} />;
  return (
    <div className="app">
      <Toolbar project={project} actions={actions} mode={mode} onSwitch={switchMode} />
      {project.trusted ? null : (
        <p className="notice" role="status">
          <Icon name="warning" />
          {words.untrusted}
        </p>
      )}
      {project.cards.length === 0 ? (
        <Empty text={words.noCards} hint={words.noCardsHint} />
      ) : (
        <Cards project={project} actions={actions} mode={mode} />
      )}
      <Announcements project={project} />
    </div>
  );
}

interface ToolbarProps {
  readonly project: CanvasProject;
  readonly actions: CanvasActions;
  readonly mode: CanvasMode;
  readonly onSwitch: () => void;
}

function Toolbar({ project, actions, mode, onSwitch }: ToolbarProps) {
  const isRunning = project.run?.state === 'running';
  const waiting = project.cards
    .flatMap((card) => card.permissions)
    .filter(({ accepted }) => !accepted).length;
  return (
    <header className="toolbar">
      <h1>{project.name}</h1>
      <span className="summary">{project.run ? runSentence(project.run) : words.notRun}</span>
      {isRunning ? (
        <Button kind="primary" icon="stop" label={words.cancel} onClick={actions.cancel} />
      ) : (
        <Button
          kind="primary"
          icon="play"
          label={words.runProject}
          disabled={!project.trusted || project.cards.length === 0}
          onClick={actions.runProject}
        />
      )}
      {project.run ? <Button icon="open" label={words.openRun} onClick={actions.openRun} /> : null}
      {project.cards.some((card) => card.permissions.length > 0) ? (
        <Button icon="shield" label={words.reviewPermissions(waiting)} onClick={actions.reviewPermissions} />
      ) : null}
      <Button
        icon={mode === 'graph' ? 'list' : 'graph'}
        label={mode === 'graph' ? words.showList : words.showGraph}
        onClick={onSwitch}
      />
    </header>
  );
}

interface CardsProps {
  readonly project: CanvasProject;
  readonly actions: CanvasActions;
  readonly mode: CanvasMode;
}

function Cards({ project, actions, mode }: CardsProps) {
  const [open, setOpen] = useState<{ id: string; anchor: HTMLElement }>();
  const onOpen = useCallback((id: string, anchor: HTMLElement) => setOpen({ id, anchor }), []);
  const onClose = useCallback(() => setOpen(undefined), []);
  const card = open && project.cards.find(({ id }) => id === open.id);
  const View = mode === 'graph' ? GraphView : ListView;
  return (
    <main className="area">
      <View name={project.name} cards={project.cards} onOpen={onOpen} />
      {open && card ? (
        <Menu
          label={words.cardMenu(card.title)}
          anchor={open.anchor}
          onClose={onClose}
          items={menuItems(card.id, {
            actions,
            canRun: project.trusted && project.run?.state !== 'running',
            hasCode: card.entryPath !== null,
            hasResult: card.status !== null,
          })}
        />
      ) : null}
    </main>
  );
}

function menuItems(
  card: string,
  given: { actions: CanvasActions; canRun: boolean; hasCode: boolean; hasResult: boolean },
): MenuItem[] {
  const { actions, canRun, hasCode, hasResult } = given;
  return [
    { label: words.runCard, icon: 'play', disabled: !canRun, run: () => actions.runCard(card) },
    { label: words.openResult, icon: 'open', disabled: !hasResult, run: () => actions.openResult(card) },
    { label: words.openCode, icon: 'code', disabled: !hasCode, run: () => actions.openCode(card) },
    { label: words.openManifest, icon: 'braces', run: () => actions.openManifest(card) },
  ];
}

function Announcements({ project }: { readonly project: CanvasProject }) {
  const [announcer] = useState(() => new Announcer(1500, summarise));
  const before = useRef(project.cards);
  useEffect(() => {
    const changes = stateChanges(before.current, project.cards, (card) =>
      words.stateChanged(card.title, stateWord(shownState(card))),
    );
    before.current = project.cards;
    announcer.announce(...changes);
  }, [project.cards, announcer]);
  const runState = project.run?.state;
  const first = useRef(true);
  useEffect(() => {
    if (!first.current && project.run && runState !== 'running') announcer.announce(runSentence(project.run));
    first.current = false;
    // Only the end of a run is said, not each figure of it.
  }, [runState, announcer]);
  return <LiveRegion announcer={announcer} />;
}

function summarise(sentences: readonly string[]): string {
  return sentences.length <= 4 ? sentences.join('. ') : words.manyChanged(sentences.length);
}

function Empty({ text, hint }: { readonly text: string; readonly hint?: string }) {
  return (
    <main className="empty">
      <Icon name="graph" />
      {hint === undefined ? <h1>{text}</h1> : <p>{text}</p>}
      {hint === undefined ? null : <p className="hint">{hint}</p>}
    </main>
  );
}
