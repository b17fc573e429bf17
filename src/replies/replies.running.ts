import { watchCaller } from '../auth/watch.ts';
import type { Actor } from '../core/scope.ts';
import type { Bus } from '../events/bus.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** A person has stopped a reply, which any process may be writing. */
    'reply.stop': { messageId: string };
  }
}

/** A reply that this process writes. */
export interface RunningReply {
  channelId: string;
  messageId: string;
  /** The person who called the model; null before the account was read. */
  actorOf(): Actor | null;
  /** Whether the reply uses the model or record with this id; true before its model was read. */
  uses(modelId: string): boolean;
  stop(): void;
  /** The message or its channel was deleted. */
  drop(): void;
  /** The rights of the person may have changed. */
  recheck(): void;
}

/** The replies that this process writes: they follow what happens to their message, channel and person. */
export interface RunningReplies {
  readonly size: number;
  /** Returns the function that removes it. */
  add(reply: RunningReply): () => void;
  close(): void;
}

export function followRunning(bus: Bus): RunningReplies {
  const running = new Map<string, RunningReply>();
  const inChannel = (channelId: string, act: (reply: RunningReply) => void) => {
    for (const reply of running.values()) if (reply.channelId === channelId) act(reply);
  };
  const ends = [
    bus.subscribe('reply.stop', ({ messageId }) => running.get(messageId)?.stop()),
    bus.subscribe('channel.event', ({ data, message_id }) => {
      if (data.type === 'message:delete' && message_id !== null) running.get(message_id)?.drop();
    }),
    bus.subscribe('channel.notice', ({ notice }) => {
      if (notice.data.type === 'channel:deleted') inChannel(notice.channel_id, (reply) => reply.drop());
    }),
    bus.subscribe('channel.access', ({ channelId }) => inChannel(channelId, (reply) => reply.recheck())),
    bus.subscribe('model.changed', ({ ids }) => {
      for (const reply of running.values()) if (ids?.some((id) => reply.uses(id)) ?? true) reply.recheck();
    }),
    bus.onGap(() => {
      for (const reply of running.values()) reply.recheck();
    }),
  ];
  return {
    get size() {
      return running.size;
    },
    add(reply) {
      running.set(reply.messageId, reply);
      const { recheck } = reply;
      // The end of a session does not end the reply; a deleted account or key does.
      const unwatch = watchCaller(bus, { actorOf: reply.actorOf, recheck, end: recheck });
      return () => {
        unwatch();
        if (running.get(reply.messageId) === reply) running.delete(reply.messageId);
      };
    },
    close() {
      for (const end of ends) end();
    },
  };
}
