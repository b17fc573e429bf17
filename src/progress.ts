const TERMINAL_MS = 200;
const LINE_MS = 10_000;

/**
 * Shows the progress of a long task on standard error: in place on a terminal, else as a line each ten seconds. Returns a
 * function that ends it.
 *
 * @param describe makes the text from the seconds so far
 */
export function showProgress(describe: (seconds: number) => string): () => void {
  const { stderr } = process;
  const began = performance.now();
  const text = () => describe(Math.round((performance.now() - began) / 1000));
  const show = stderr.isTTY ? () => stderr.write(`\r${text()}\x1b[K`) : () => stderr.write(`${text()}\n`);
  const timer = setInterval(show, stderr.isTTY ? TERMINAL_MS : LINE_MS);
  return () => {
    clearInterval(timer);
    if (stderr.isTTY) stderr.write('\r\x1b[K');
  };
}
