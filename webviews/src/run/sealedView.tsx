import { useEffect, useRef, useState } from 'react';
import type { PictureFormat, ViewKind } from '../../../protocol/src/webview.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { SealedFrame, type FrameState } from '../frame/sealedFrame.ts';
import { Button } from '../ui/button.tsx';
import { onThemeChange, viewThemeOf } from '../ui/viewThemeOf.ts';
import { words } from '../ui/words.ts';

export interface SealedViewProps {
  readonly name: string;
  readonly kind: Exclude<ViewKind, 'html'>;
  readonly text: string;
  readonly frameScript: string;
  readonly library: string;
  readonly savePicture: (format: PictureFormat, base64: string) => Promise<boolean>;
}

const smallestPx = 220;

/** A chart in its opaque frame, with the shell's own controls around it: they work while the frame hangs. */
export function SealedView(props: SealedViewProps) {
  const { name, kind, text, frameScript, library, savePicture } = props;
  const box = useRef<HTMLDivElement>(null);
  const frame = useRef<SealedFrame>(null);
  const [state, setState] = useState<FrameState | { kind: 'closed-by-person' }>({ kind: 'opening' });
  const [round, setRound] = useState(0);
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (!box.current) return;
    setState({ kind: 'opening' });
    const opened = new SealedFrame(box.current, {
      frameScript,
      library,
      kind,
      text,
      title: words.frame.title(name),
      theme: viewThemeOf(document),
      onState: setState,
    });
    frame.current = opened;
    const stop = onThemeChange(document, (theme) => opened.setTheme(theme));
    return () => {
      stop();
      opened.dispose();
    };
  }, [frameScript, library, kind, text, name, round]);

  const save = async (format: PictureFormat) => {
    if (!frame.current) return;
    try {
      const saved = await savePicture(format, await frame.current.picture(format));
      setSaid(saved ? words.saved : '');
    } catch (error) {
      setSaid(words.failed(errorMessage(error)));
      void frame.current.ping();
    }
  };
  const isThere = state.kind === 'drawn' || state.kind === 'hung';
  const problem = problemOf(state);
  const height = state.kind === 'drawn' ? Math.max(state.heightPx, smallestPx) : undefined;
  return (
    <div className="sealed">
      <div className="pane-bar">
        <span className="spring" role="status">
          {state.kind === 'opening' ? words.frame.opening : said}
        </span>
        <Button icon="save" label={words.savePng} disabled={!isThere} onClick={() => void save('png')} />
        <Button icon="save" label={words.saveSvg} disabled={!isThere} onClick={() => void save('svg')} />
      </div>
      {problem === undefined ? null : (
        <div className="notice" role="alert">
          <span>{problem}</span>
          {state.kind === 'hung' ? (
            <Button
              icon="close"
              label={words.frame.close}
              onClick={() => {
                frame.current?.dispose();
                setState({ kind: 'closed-by-person' });
              }}
            />
          ) : (
            <Button label={words.frame.reload} onClick={() => setRound(round + 1)} />
          )}
        </div>
      )}
      <div
        className="sealed-box"
        ref={box}
        style={{ height, display: isThere || state.kind === 'opening' ? undefined : 'none' }}
      />
    </div>
  );
}

function problemOf(state: FrameState | { kind: 'closed-by-person' }): string | undefined {
  switch (state.kind) {
    case 'opening':
    case 'drawn':
      return undefined;
    case 'hung':
      return words.frame.hung;
    case 'failed':
      return words.frame.failed(state.message);
    case 'closed-by-person':
      return words.frame.closedByYou;
    case 'closed': {
      const reason = words.frame.closed[state.reason];
      return state.detail === '' ? `${reason}.` : `${reason}: ${state.detail}.`;
    }
  }
}
