import { useEffect, useRef, useState } from 'react';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { holdImage, imageProblem, type HeldImage } from './images.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** The pictures of a message that is being written. What can't be taken is said. */
export function useImages(takesImages: boolean, onSaid: (text: string) => void) {
  const [held, setHeld] = useState<readonly HeldImage[]>([]);
  const latest = useRef(held);
  latest.current = held;
  useEffect(() => () => latest.current.forEach((image) => image.release()), []);

  const set = (next: readonly HeldImage[]) => {
    latest.current = next;
    setHeld(next);
  };
  const add = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      const problem = imageProblem(file, latest.current.length);
      if (problem) onSaid(words.imageProblems[problem]);
      else set([...latest.current, await holdImage(file)]);
    }
  };
  return {
    held,
    add: (files: FileList) => {
      if (!takesImages) onSaid(words.noImages);
      else add([...files]).catch((error: unknown) => onSaid(errorMessage(error)));
    },
    remove: (image: HeldImage) => {
      image.release();
      set(latest.current.filter((each) => each !== image));
    },
    clear: () => {
      for (const image of latest.current) image.release();
      set([]);
    },
  };
}
