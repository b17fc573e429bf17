import { randomUUID } from 'node:crypto';

/** What a worker knows about itself: one of the processes of the server that a primary has started on one port. */
export interface Worker {
  /** 1 to the number of workers; a worker that replaces another one has its number. */
  number: number;
  /** 31 bits, the same for all workers of a primary. */
  group: number;
  /** The port that all share; 0 for the first worker where the system chooses it. */
  port: number;
  /** A folder for the sockets by which the workers reach each other, which only the user of the server can enter. */
  folder: string;
  /** The process id of the embedded PostgreSQL; null where the database is another one. */
  database: number | null;
}

/** What a worker tells its primary. */
export type FromWorker =
  | { parley: 'ready'; url: string; isNew: boolean }
  /** A notice for the other workers. */
  | { parley: 'notice'; text: string }
  /** Asks for the metrics of all workers. */
  | { parley: 'metrics'; id: string }
  /** Its own metrics, as the library writes them as JSON. */
  | { parley: 'measured'; id: string; metrics: object[] };

/** What a primary tells a worker. */
export type ToWorker =
  | { parley: 'notice'; text: string }
  /** Notices for this worker were dropped, because it did not read them. */
  | { parley: 'gap' }
  /** Asks for its own metrics. */
  | { parley: 'measure'; id: string }
  /** The metrics of all workers, in the text format. */
  | { parley: 'metrics'; id: string; text: string };

/** Sends a message to the primary. It is lost when the primary has ended, and so does this worker then. */
export function tellPrimary(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

/** Libraries use the same channel, with messages of other forms. Returns a function that ends it. */
export function hearPrimary(hear: (message: ToWorker) => void): () => void {
  const listener = (message: unknown) => {
    if (isOurs(message)) hear(message as ToWorker);
  };
  process.on('message', listener);
  return () => process.off('message', listener);
}

export const isOurs = (message: unknown): message is FromWorker | ToWorker =>
  typeof message === 'object' && message !== null && 'parley' in message;

/** The metrics of all workers, in the text format. */
export async function askMetrics(): Promise<string> {
  const id = randomUUID();
  const { promise, resolve } = Promise.withResolvers<string>();
  const end = hearPrimary((message) => {
    if (message.parley === 'metrics' && message.id === id) resolve(message.text);
  });
  tellPrimary({ parley: 'metrics', id });
  return promise.finally(end);
}
