/** Between two signs of life. The extension loads the page anew when several are missing. */
const beatMs = 200;

/** Says that the page is alive, while it can be seen. Returns what stops it. */
export function startBeat(document: Document, beat: () => void): () => void {
  let timer: ReturnType<typeof setInterval> | undefined;
  const set = () => {
    clearInterval(timer);
    timer = undefined;
    if (document.visibilityState !== 'visible') return;
    beat();
    timer = setInterval(beat, beatMs);
  };
  document.addEventListener('visibilitychange', set);
  set();
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', set);
  };
}
