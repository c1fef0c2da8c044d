import { Button } from '../ui/button.tsx';
import type { IconName } from '../ui/icon.tsx';
import { useClient, type Act } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export type EmptyKind = 'connect' | 'noProject' | 'untrusted' | 'start';

/** In the place of a conversation: what is missing, in words and a picture, and the way on. */
export function EmptyView({
  kind,
  onHint,
}: {
  readonly kind: EmptyKind;
  readonly onHint: (text: string) => void;
}) {
  const client = useClient();
  const { title, text } = words.empty[kind];
  return (
    <div className="empty-view">
      <Picture kind={kind} />
      <h1>{title}</h1>
      <p>{text}</p>
      {kind === 'start' ? (
        <ul>
          {words.empty.start.hints.map((hint) => (
            <li key={hint}>
              <button type="button" className="hint" onClick={() => onHint(hint)}>
                {hint}
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <Button
          kind="primary"
          icon={ways[kind].icon}
          label={words.empty[kind].button}
          onClick={() => client.act(ways[kind].act)}
        />
      )}
    </div>
  );
}

/** The way on from what is missing. */
const ways = {
  connect: { icon: 'plug', act: 'connect' },
  noProject: { icon: 'add', act: 'newProject' },
  untrusted: { icon: 'shield', act: 'trust' },
} as const satisfies Record<Exclude<EmptyKind, 'start'>, { readonly icon: IconName; readonly act: Act }>;

/** A gate in a wall: open, closed, without a road, or with a plug beside it. Drawn in the theme's colours. */
function Picture({ kind }: { readonly kind: EmptyKind }) {
  return (
    <svg className="picture" viewBox="0 0 160 96" aria-hidden="true">
      <path className="ground" d="M8 84h144" />
      <path className="wall" d="M28 84V34h10v-8h10v8h12v-8h10v8h20v-8h10v8h12v-8h10v8h10v50" />
      <path className="arch" d="M62 84V62a18 18 0 0 1 36 0v22" />
      {kind === 'start' ? <path className="accent" d="M80 84V56M72 64l8-8 8 8" /> : null}
      {kind === 'untrusted' ? (
        <path className="accent" d="M68 84V60M76 84V50M84 84V50M92 84V60M63 66h34" />
      ) : null}
      {kind === 'connect' ? (
        <path className="accent" d="M74 60v-7M86 60v-7M70 60h20v7a10 10 0 0 1-20 0zM80 77v7" />
      ) : null}
      {kind === 'noProject' ? <path className="accent" d="M70 72V60h8l3 4h10v14H70z" /> : null}
    </svg>
  );
}
