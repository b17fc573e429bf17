import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Json } from '../core/json/json.ts';
import type { Bus } from '../events/bus.ts';
import type { MessageView } from './messages.schema.ts';
import { REACTORS } from './messages.view.repository.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** A name changed that messages show, other than that of an account. */
    'message.names': null;
  }
}

declare module '../core/scope.ts' {
  interface Parts {
    readonly keptPages: KeptPages;
  }
}

/** A page as it was sent, with the version of its channel at that time. */
interface Kept {
  version: string;
  answer: Json<MessageView[]>;
}

/** Memory for the pages of a process. Node takes up to two bytes for a character. */
const MOST_BYTES = 32 * 1024 * 1024;
const PAGE_BYTES = 2 * 1024 * 1024;
/**
 * The newest pages of channels and threads, as JSON text. Each event of a channel gives it another version, and a page is sent
 * again while the version is the same. Names stand in the page without an event, so a change of a name drops all pages.
 * Access is not kept: the statement that reads the version checks it.
 */
export class KeptPages {
  readonly #pages = new LRUCache<string, Kept>({
    maxSize: MOST_BYTES,
    maxEntrySize: PAGE_BYTES,
    sizeCalculation: ({ answer }) => 2 * answer.text.length + 1,
  });
  /** Grows at each change of a name: a page that was read before such a change is not kept after it. */
  #names = 0;

  get(place: string): Kept | undefined {
    return this.#pages.get(place);
  }

  /** Remembers the state of the names before a read. */
  begin(): number {
    return this.#names;
  }

  /** The answer of a read, which is kept for the next ones. */
  put(place: string, begun: number, version: string, messages: MessageView[]): Json<MessageView[]> {
    const text = JSON.stringify(messages);
    if (begun !== this.#names || !messages.every(isSameForAll)) return new Json(text);
    const answer = new Json<MessageView[]>(text, tagOf(text));
    this.#pages.set(place, { version, answer });
    return answer;
  }

  dropAll(): void {
    this.#names += 1;
    this.#pages.clear();
  }
}

const tagOf = (text: string) => `"${createHash('sha1').update(text).digest('base64url')}"`;

/** The text of an unfinished reply grows without an event, and a reaction of very many people names each reader. */
const isSameForAll = ({ meta, reactions, reply_to_message: quoted }: MessageView): boolean =>
  meta.done !== false && quoted?.meta.done !== false && reactions.every(({ count }) => count <= REACTORS);

/** Keeps pages until a name changes, or a notice about one may be lost. */
export function keepPages(bus: Bus): { pages: KeptPages; close(): void } {
  const pages = new KeptPages();
  const drop = () => pages.dropAll();
  const stops = [
    bus.subscribe('auth.changed', drop),
    bus.subscribe('message.names', drop),
    // The end of one session or key changes no name; the end of an account does.
    bus.subscribe('auth.revoked', ({ sessionId, keyId }) => {
      if (sessionId === null && keyId === undefined) drop();
    }),
    bus.onGap(drop),
  ];
  return {
    pages,
    close() {
      for (const stop of stops) stop();
    },
  };
}
