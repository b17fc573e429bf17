/**
 * Closes what a run has started, the last one first: at the end, and when the run is interrupted. One that fails does not keep the others.
 *
 * @param closers filled by the run
 */
export function closeOnSignal(closers: (() => Promise<void>)[]): () => Promise<void> {
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        console.error('Not closed:', error);
        process.exitCode = 1;
      }
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void closeAll().finally(() => process.exit(1)));
  }
  return closeAll;
}
