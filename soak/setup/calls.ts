import { setTimeout as delay } from 'node:timers/promises';

/** `status` is 0 when no answer came: whether the call had its effect is unknown. */
export interface Answer {
  status: number;
  // The shape is what the caller asked for.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  ms: number;
  /** How often the call was made. */
  attempts: number;
}

export interface CallOptions {
  token?: string;
  body?: unknown;
  form?: FormData;
  timeoutMs?: number;
}

/** Longer than a paused process is paused. */
const TIMEOUT_MS = 15_000;

/** One REST call under `/api/v1`: `METHOD path`. Never throws. */
export async function callOnce(url: string, request: string, options: CallOptions = {}): Promise<Answer> {
  const { token, body, form, timeoutMs = TIMEOUT_MS } = options;
  const [method = 'GET', path = ''] = request.split(' ');
  const began = performance.now();
  const since = () => performance.now() - began;
  try {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(form && { body: form }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text, ms: since(), attempts: 1 };
  } catch (error) {
    return { status: 0, body: String((error as Error).cause ?? error), ms: since(), attempts: 1 };
  }
}

/**
 * True for answers that say that the same call may succeed later. 408 answers a connection on which nothing had come for a minute, also
 * when a call is sent on it at that moment.
 */
export const mayRepeat = ({ status }: Pick<Answer, 'status'>): boolean =>
  status === 0 || status === 408 || status === 429 || status >= 500;

const PAUSE_MS = 500;

/**
 * Calls the addresses in turn until one gives a final answer, as clients do after a lost answer.
 *
 * @returns the last answer, which is not final when the time is over
 */
export async function callUntilFinal(
  urls: readonly string[],
  request: string,
  options: CallOptions = {},
  patienceMs = 60_000,
): Promise<Answer> {
  const end = Date.now() + patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await callOnce(urls[attempt % urls.length] ?? '', request, options);
    if (!mayRepeat(answer) || Date.now() > end) return { ...answer, attempts: attempt + 1 };
    await delay(PAUSE_MS);
  }
}

/** A call that must succeed. @throws Error with the answer */
export async function insist(
  urls: readonly string[],
  request: string,
  options: CallOptions = {},
): Promise<Answer['body']> {
  const { status, body } = await callUntilFinal(urls, request, options);
  if (status < 200 || status > 299) throw new Error(`${request} answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Runs work for each item, at most `width` at a time. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const run = async () => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index] as Item, index);
    }
  };
  await Promise.all(Array.from({ length: width }, run));
  return results;
}
