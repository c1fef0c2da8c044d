import { useCallback } from 'react';
import type { CardRunView } from '../../../protocol/src/engine.ts';
import { Button } from '../ui/button.tsx';
import { useAnswer } from '../ui/useAnswer.ts';
import { words } from '../ui/words.ts';
import { bytesOfBase64, textOfBytes } from './bytes.ts';
import { ImageView } from './imageView.tsx';
import type { Output, RunClient } from './runClient.ts';
import { SealedView } from './sealedView.tsx';
import { TableView } from './tableView.tsx';
import { prettyJson, TextView } from './textView.tsx';

export interface OutputViewProps {
  readonly card: string;
  readonly output: CardRunView['outputs'][number];
  readonly client: RunClient;
}

/** One output, by its type. What it holds is data here; what could be code goes into a sealed frame. */
export function OutputView({ card, output, client }: OutputViewProps) {
  const { port, type, artifact } = output;
  if (type === 'html') {
    return (
      <div className="nothing">
        <p>{words.openPageHint}</p>
        <Button
          kind="primary"
          icon="open"
          label={words.openPage}
          onClick={() => void client.openPage(card, port)}
        />
      </div>
    );
  }
  if (artifact.sizeBytes > 32 * 1024 * 1024) return <p className="nothing">{words.tooLarge}</p>;
  return <LoadedOutput key={artifact.digest} card={card} output={output} client={client} />;
}

function LoadedOutput({ card, output, client }: OutputViewProps) {
  const { port } = output;
  const question = useCallback(() => readOutput(client, card, port), [client, card, port]);
  const answer = useAnswer(question);
  if (answer.kind === 'waiting') return <p className="nothing">{words.log.loading}</p>;
  if (answer.kind === 'failed') return <p className="nothing">{words.failed(answer.message)}</p>;
  return <Shown name={`${card}/${port}`} loaded={answer.value} client={client} />;
}

interface Loaded {
  readonly type: Output['type'];
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly frameScript: string;
  readonly library: string;
}

async function readOutput(client: RunClient, card: string, port: string): Promise<Loaded> {
  const { type, base64 } = await client.readOutput(card, port);
  const bytes = bytesOfBase64(base64);
  const isChart = type === 'vega-lite' || type === 'plotly';
  const [frameScript, library] = isChart
    ? await Promise.all([client.library('view'), client.library(type === 'plotly' ? 'plotly' : 'vega')])
    : ['', ''];
  return { type, bytes, frameScript, library };
}

function Shown({
  name,
  loaded,
  client,
}: {
  readonly name: string;
  readonly loaded: Loaded;
  readonly client: RunClient;
}) {
  const { type, bytes, frameScript, library } = loaded;
  if (type === 'image') return <ImageView name={name} bytes={bytes} />;
  const text = textOfBytes(bytes);
  if (text === undefined) {
    return <p className="nothing">{type === 'table' ? words.table.binary : words.notText}</p>;
  }
  switch (type) {
    case 'vega-lite':
    case 'plotly':
      return (
        <SealedView
          name={name}
          kind={type}
          text={text}
          frameScript={frameScript}
          library={library}
          savePicture={(format, base64) => client.savePicture(name.replace('/', '-'), format, base64)}
        />
      );
    case 'table':
      return <TableView name={name} text={text} />;
    case 'json':
    case 'directory':
      return <TextView name={name} text={prettyJson(text)} />;
    case 'text':
    case 'file':
    case 'html':
      return <TextView name={name} text={text} />;
  }
}
