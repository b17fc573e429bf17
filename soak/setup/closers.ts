/**
 * Closes what a run has started, the last one first: at the end, and when the run is interrupted. One that fails does not keep the others.
 *
 * @param closers filled by the run
 */
export function closeOnSignal(closers: (() => Promise<void>)[]): () => Promise<void> {
  const closeNow = async () => {
    for (const close of closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        console.error('Not closed:', error);
        process.exitCode = 1;
      }
    }
  };
  let closing = Promise.resolve();
  // A run that fails because parts of it are being closed waits for the end of that.
  const closeAll = () => {
    closing = closing.then(closeNow);
    return closing;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void closeAll().finally(() => process.exit(1)));
  }
  return closeAll;
}
