import { memo, useId, useState } from 'react';
import { showHidden, showHiddenLines } from '../../../protocol/src/text.ts';
import { duration } from '../ui/figures.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import type { FileChange, ToolItem } from './itemTypes.ts';
import { QuietButton } from './quietButton.tsx';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

const icons: Record<ToolItem['state'], IconName> = {
  writing: 'edit',
  waiting: 'shield',
  running: 'running',
  done: 'done',
  failed: 'failed',
  refused: 'cancelled',
  unknown: 'unknown',
};

/** One call of a tool: its state as shape and word, what it did, and how long a person and the machine took. */
export const ToolRow = memo(function ToolRow({ item }: { readonly item: ToolItem }) {
  const [isOpen, setOpen] = useState(false);
  const detailId = useId();
  const client = useClient();
  const title = showHidden(item.title);
  return (
    <div className={`tool tool-${item.state}`}>
      <button
        type="button"
        className="tool-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? detailId : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={icons[item.state]} />
        <span className="tool-title">{title}</span>
        <span className="tool-state">{words.toolStates[item.state]}</span>
        <span className="tool-times">
          {item.waitMs > 0 ? <span>{words.waited(duration(item.waitMs))}</span> : null}
          {item.runMs > 0 ? <span>{words.ran(duration(item.runMs))}</span> : null}
        </span>
        <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} />
      </button>
      {isOpen ? (
        <pre className="tool-detail" id={detailId} tabIndex={0} aria-label={words.details(title)}>
          {item.detail === '' ? words.noDetail : showHiddenLines(item.detail)}
        </pre>
      ) : null}
      {item.changes.length > 0 ? (
        <ul className="changes">
          {item.changes.map((change) => (
            <ChangeLine key={change.changeId} change={change} seq={item.seq} />
          ))}
        </ul>
      ) : null}
      {item.runId === null ? null : (
        <div className="tool-links">
          <QuietButton
            icon="open"
            label={words.openRun}
            text={words.openRun}
            onClick={() => client.act('openRun', { seq: item.seq, value: item.runId ?? '' })}
          />
        </div>
      )}
    </div>
  );
});

function ChangeLine({ change, seq }: { readonly change: FileChange; readonly seq: number }) {
  const client = useClient();
  const path = showHidden(change.path);
  const { addedLines, removedLines } = change;
  const slash = path.lastIndexOf('/') + 1;
  return (
    <li className={change.undone ? 'change change-undone' : 'change'}>
      <button
        type="button"
        className="change-path"
        title={path}
        onClick={() => client.act('openFile', { seq, value: change.path })}
      >
        <span className="folder">{path.slice(0, slash)}</span>
        <span className="file">{path.slice(slash)}</span>
      </button>
      <span className="change-kind">{change.undone ? words.undone : words.changeKinds[change.kind]}</span>
      <span className="counts" role="img" aria-label={words.addedRemoved(addedLines, removedLines)}>
        <span className="added">+{addedLines}</span>
        <span className="removed">−{removedLines}</span>
      </span>
      <span className="change-acts">
        <QuietButton
          icon="diff"
          label={words.diff(path)}
          onClick={() => client.act('openDiff', { seq, value: change.changeId })}
        />
        {change.undone ? null : (
          <QuietButton
            icon="undo"
            label={words.undoFile(path)}
            onClick={() => client.act('undoFile', { seq, value: change.changeId })}
          />
        )}
      </span>
    </li>
  );
}
