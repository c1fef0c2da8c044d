import { image } from '../../../protocol/src/agent.ts';

type MediaType = (typeof image.shape.mediaType)['_zod']['output'];

/** A picture in the composer. `url` is of the page's own memory; `release` frees it. */
export interface HeldImage {
  readonly url: string;
  readonly name: string;
  readonly mediaType: MediaType;
  readonly base64: string;
  readonly release: () => void;
}

export type ImageProblem = 'type' | 'size' | 'count';

export const imageLimits = { count: 4, bytes: 1_250_000 } as const;

/** What keeps a file from being sent along, or undefined. `held` pictures are there already. */
export function imageProblem(
  file: { readonly type: string; readonly size: number },
  held: number,
): ImageProblem | undefined {
  if (!image.shape.mediaType.safeParse(file.type).success) return 'type';
  if (file.size > imageLimits.bytes) return 'size';
  return held >= imageLimits.count ? 'count' : undefined;
}

/** Reads a file that `imageProblem` let through. */
export async function holdImage(file: File): Promise<HeldImage> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const url = URL.createObjectURL(file);
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return {
    url,
    name: file.name,
    mediaType: image.shape.mediaType.parse(file.type),
    base64: btoa(binary),
    release: () => URL.revokeObjectURL(url),
  };
}
