import type { FastifyReply } from 'fastify';

/** Proxies close connections that are silent for a minute. */
const IDLE_MS = 25_000;
/** How long a client may leave what was sent unread. */
const STALL_MS = 60_000;
/** Events that are sent in one round of the event loop are written together. So many characters are written at once. */
const MOST_UNWRITTEN = 16 * 1024;

/** Server-sent events to one client. */
export interface EventStream {
  /** Whether the head of the answer was sent: from then on a failure is an event. */
  readonly hasBegun: boolean;
  /** Whether the client has gone. */
  readonly isGone: boolean;
  /**
   * Sends whole events. The sender awaits the result where there is one: the client is behind, and reads, or goes, or is cut off after a
   * minute.
   */
  send(events: string): Promise<void> | undefined;
  /** Ends the answer. */
  end(): void;
  /** Sends nothing more: the route answers otherwise. */
  abandon(): void;
}

/**
 * Answers a request with server-sent events. The head is sent with the first of them.
 *
 * @param idle what is sent while nothing else is, for proxies
 */
export function openEventStream(
  reply: FastifyReply,
  idle: string,
  { idleMs = IDLE_MS, stallMs = STALL_MS } = {},
): EventStream {
  const { raw } = reply;
  let hasBegun = false;
  let wasSilent = false;
  let unwritten = '';
  const timer = setInterval(() => {
    if (wasSilent && !raw.writableNeedDrain) write(idle);
    wasSilent = true;
  }, idleMs / 2).unref();
  raw.once('close', () => clearInterval(timer));

  function begin(): void {
    hasBegun = true;
    // The route writes the answer itself: a stream of Fastify costs as much for each event as the event.
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
  }

  /** False: the client is behind. */
  function write(events: string): boolean {
    if (raw.destroyed) return true;
    if (!hasBegun) begin();
    if (unwritten === '') process.nextTick(flush);
    unwritten += events;
    return unwritten.length < MOST_UNWRITTEN ? !raw.writableNeedDrain : flush();
  }

  function flush(): boolean {
    const text = unwritten;
    unwritten = '';
    return text === '' || raw.destroyed || raw.write(text);
  }

  const caughtUp = () =>
    new Promise<void>((resolve) => {
      const cut = setTimeout(() => raw.destroy(), stallMs).unref();
      const go = () => {
        clearTimeout(cut);
        raw.off('drain', go).off('close', go);
        resolve();
      };
      raw.on('drain', go).on('close', go);
    });

  return {
    get hasBegun() {
      return hasBegun;
    },
    get isGone() {
      return raw.destroyed;
    },
    send(events) {
      wasSilent = false;
      return write(events) ? undefined : caughtUp();
    },
    end() {
      clearInterval(timer);
      if (!hasBegun) begin();
      flush();
      raw.end();
    },
    abandon: () => clearInterval(timer),
  };
}
