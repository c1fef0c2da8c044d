import { useEffect, useMemo, useState } from 'react';
import { words } from '../ui/words.ts';
import { imageType } from './bytes.ts';

/** An image, by what its bytes are. In an `<img>` an SVG runs no script and loads nothing. */
export function ImageView({
  name,
  bytes,
}: {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}) {
  const type = useMemo(() => imageType(bytes), [bytes]);
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (type === undefined) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  if (type === undefined) return <p className="nothing">{words.badImage}</p>;
  return (
    <div className="image" tabIndex={0} role="region" aria-label={words.image(name)}>
      {url === undefined ? null : <img src={url} alt={words.image(name)} />}
    </div>
  );
}
