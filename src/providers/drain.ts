/** How long the rest of an answer may take behind its last event. */
const REST_MS = 1_000;

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` for the client of OpenAI, which leaves a stream at `[DONE]`, before the body ends. That would close the connection, and
 * each call would open another: here the rest of the body is read. The signal of the request still closes the connection at once.
 */
export function readingToEnd(fetch: Fetch): Fetch {
  return async (input, init) => {
    const { signal } = init ?? {};
    const ending = new AbortController();
    const end = () => ending.abort(signal?.reason);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted) end();
    const response = await fetch(input, { ...init, signal: ending.signal });
    const { body } = response;
    if (!body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const getReader = () => {
      const reader = body.getReader();
      return {
        read: () => reader.read(),
        async cancel() {
          signal?.removeEventListener('abort', end);
          if (!signal?.aborted) void readRest(reader, ending);
        },
        releaseLock() {},
      };
    };
    return Object.defineProperty(response, 'body', { value: { getReader } });
  };
}

async function readRest(
  reader: ReadableStreamDefaultReader<unknown>,
  ending: AbortController,
): Promise<void> {
  const limit = setTimeout(() => ending.abort(), REST_MS).unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The provider, or the limit, closed the connection.
  } finally {
    clearTimeout(limit);
  }
}
