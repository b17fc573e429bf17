import type { Logger } from 'pino';

/** The parts that were started, in order. */
export interface Closers {
  readonly isClosing: boolean;
  add(close: () => unknown): void;
  /** Stops them in reverse order, once. */
  close(): Promise<void>;
}

export function openClosers(log: Logger): Closers {
  const closers: (() => unknown)[] = [];
  let closing: Promise<void> | undefined;
  async function closeAll(): Promise<void> {
    for (const close of closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        log.error({ err: error }, 'A part did not stop cleanly.');
      }
    }
  }
  return {
    get isClosing() {
      return closing !== undefined;
    },
    add: (close) => void closers.push(close),
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}
