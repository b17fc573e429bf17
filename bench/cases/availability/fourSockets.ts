import { floodSocket } from '../../load/flood.ts';
import type { Attack } from '../../support/attack.ts';

const SOCKETS = 4;
const SUBSCRIPTIONS = 8_000;

/**
 * An ordinary user with four tRPC sockets makes 8,000 subscriptions, and then searches and lists without end;
 * no answer is awaited.
 */
export const fourSockets: Attack = {
  what: 'a user with four tRPC sockets, pipelined',
  targets: { health: 150, others: 300, memory: 500 },
  async attack({ url, token }) {
    const headers = { authorization: `Bearer ${token}` };
    const frameAt = (id: number) => {
      if (id <= SUBSCRIPTIONS / SOCKETS)
        return JSON.stringify({ id, method: 'subscription', params: { path: 'channels.events', input: {} } });
      const params =
        id % 2 === 0
          ? { path: 'people.search', input: { query: 'e' } }
          : { path: 'channels.listAll', input: {} };
      return JSON.stringify({ id, method: 'query', params });
    };
    const flood = () => floodSocket(`${url.replace('http', 'ws')}/trpc`, headers, frameAt);
    await Promise.all(Array.from({ length: SOCKETS }, flood));
  },
};
