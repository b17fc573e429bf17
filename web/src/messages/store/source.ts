import type { Message } from '@parley/client';
import { api } from '../../api/client.ts';

/** Consecutive messages, the oldest first. */
export interface Page {
  messages: Message[];
  hasOlder: boolean;
  hasNewer: boolean;
}

/** Reads pages of the main line of a channel, or of a thread. */
export interface Source {
  newest(): Promise<Page>;
  before(id: string): Promise<Page>;
  after(id: string): Promise<Page>;
  around(id: string): Promise<Page>;
  /** Around the first message at or after a time (nanoseconds). */
  at(ns: number): Promise<Page>;
}

const LIMIT = 60;
const HALF = LIMIT / 2;

const isFull = (messages: Message[]) => messages.length >= LIMIT;

/** `anchor` is the place of the message around which the server read. */
const windowAt = (messages: Message[], anchor: number): Page => ({
  messages,
  hasOlder: anchor + 1 >= HALF,
  hasNewer: messages.length - anchor - 1 >= HALF,
});

export function channelSource(id: string): Source {
  const list = async (place: { before?: string; after?: string; around?: string; at?: number }) =>
    (await api.messages.list.query({ id, limit: LIMIT, ...place })).reverse();
  return {
    async newest() {
      const messages = await list({});
      return { messages, hasOlder: isFull(messages), hasNewer: false };
    },
    async before(before) {
      const messages = await list({ before });
      return { messages, hasOlder: isFull(messages), hasNewer: true };
    },
    async after(after) {
      const messages = await list({ after });
      return { messages, hasOlder: true, hasNewer: isFull(messages) };
    },
    async around(around) {
      const messages = await list({ around });
      const anchor = messages.findIndex((message) => message.id === around);
      // The window of a reply lies around its root, whose place is not known: both sides may go on.
      return anchor < 0 ? { messages, hasOlder: true, hasNewer: true } : windowAt(messages, anchor);
    },
    async at(at) {
      const messages = await list({ at });
      const first = messages.findIndex(({ created_at }) => created_at >= at);
      return windowAt(messages, first < 0 ? messages.length - 1 : first);
    },
  };
}

/** The thread begins with its root. */
export function threadSource(id: string, rootId: string): Source {
  const one = (message_id: string) => api.messages.get.query({ id, message_id });
  const list = async (place: { before?: string; after?: string; around?: string }) =>
    (await api.messages.thread.query({ id, message_id: rootId, limit: LIMIT, ...place })).reverse();
  const from = async (replies: Message[], hasOlder: boolean): Promise<Page> => ({
    messages: hasOlder ? replies : [await one(rootId), ...replies],
    hasOlder,
    hasNewer: false,
  });
  const newest = async () => {
    const replies = await list({});
    return from(replies, isFull(replies));
  };
  return {
    newest,
    async before(before) {
      const replies = await list({ before });
      return { ...(await from(replies, isFull(replies))), hasNewer: true };
    },
    async after(after) {
      const replies = await list({ after });
      return { messages: replies, hasOlder: true, hasNewer: isFull(replies) };
    },
    async around(place) {
      if (place === rootId) return newest();
      const replies = await list({ around: place });
      const found = replies.findIndex((reply) => reply.id === place);
      const { hasOlder, hasNewer } = windowAt(replies, found);
      return { ...(await from(replies, hasOlder)), hasNewer };
    },
    at: newest,
  };
}
