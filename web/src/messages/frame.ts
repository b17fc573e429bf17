const waiting = new Set<() => void>();
const HIDDEN_MS = 500;

/** Calls the function once before the next paint; a hidden page does not paint and gets a timer. */
export function nextFrame(run: () => void): void {
  const isFirst = waiting.size === 0;
  waiting.add(run);
  if (!isFirst) return;
  let isDone = false;
  const runAll = () => {
    if (isDone) return;
    isDone = true;
    const all = [...waiting];
    waiting.clear();
    for (const each of all) each();
  };
  if (document.visibilityState === 'visible') requestAnimationFrame(runAll);
  // The page may be hidden before the frame comes.
  setTimeout(runAll, HIDDEN_MS);
}
