/** For each open stream of this process, all streams are read so much less often. */
const MS_PER_STREAM = 1;
/** With fewer streams there is nothing to save. */
const FEW_STREAMS = 8;
const LONGEST_MS = 100;
/** So many streams are read together. Other work goes on before the next ones. */
const AT_ONCE = 16;

let open = 0;
let waiting: (() => void)[] = [];

/** A stream begins. */
export function openPace(): void {
  open += 1;
}

/** A stream has ended. */
export function closePace(): void {
  open -= 1;
}

/**
 * When a stream may be read again; undefined: now. Few streams are read as soon as there is something. Many streams wait for a common
 * time: the tokens that came meanwhile share one read, and one write to the client, which cost more than the tokens themselves.
 */
export function nextRead(): Promise<void> | undefined {
  if (open < FEW_STREAMS) return undefined;
  return new Promise((go) => {
    if (waiting.push(go) > 1) return;
    const everyMs = Math.min(open * MS_PER_STREAM, LONGEST_MS);
    setTimeout(serve, everyMs - (performance.now() % everyMs));
  });
}

function serve(): void {
  const due = waiting;
  waiting = [];
  const goOn = () => {
    for (const go of due.splice(0, AT_ONCE)) go();
    if (due.length > 0) setImmediate(goOn);
  };
  goOn();
}
