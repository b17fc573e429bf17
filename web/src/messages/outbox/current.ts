import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useLive, useLiveState } from '../../api/live.ts';
import { nextFrame } from '../frame.ts';
import type { Entry } from './entry.ts';
import { Outbox } from './outbox.ts';

const outboxes = new Map<string, Outbox>();

/** The outbox of an account in this tab. */
export function outboxOf(accountId: string): Outbox {
  const outbox = outboxes.get(accountId) ?? new Outbox(accountId);
  outboxes.set(accountId, outbox);
  return outbox;
}

/** Sends what waits: at the start, when the connection is back, and after a new sign-in. */
export function useOutboxSender(accountId: string): void {
  const { state } = useLiveState();
  useLive({
    onEvent({ data, user }) {
      if (data.type !== 'message' || user.id !== accountId || !data.data.temp_id) return;
      const tempId = data.data.temp_id;
      // In the frame in which the lists show the message.
      nextFrame(() => outboxOf(accountId).confirm(tempId));
    },
  });
  useEffect(() => {
    const outbox = outboxOf(accountId);
    outbox.isActive = true;
    return () => {
      outbox.isActive = false;
    };
  }, [accountId]);
  useEffect(() => {
    const { wake } = outboxOf(accountId);
    if (state === 'live') wake();
    window.addEventListener('online', wake);
    return () => window.removeEventListener('online', wake);
  }, [accountId, state]);
}

const none: readonly Entry[] = [];

/** The waiting and failed posts of a channel, or of a thread. */
export function useEntries(accountId: string, channelId: string, threadId: string | null): readonly Entry[] {
  const { subscribe, entries } = outboxOf(accountId);
  const all = useSyncExternalStore(subscribe, entries);
  return useMemo(() => {
    const own = all.filter((entry) => entry.channelId === channelId && entry.threadId === threadId);
    return own.length > 0 ? own : none;
  }, [all, channelId, threadId]);
}

/** How many posts of the account wait for the server. */
export function useWaitingCount(accountId: string): number {
  const { subscribe, entries } = outboxOf(accountId);
  return useSyncExternalStore(subscribe, () => entries().filter(({ error }) => error === null).length);
}
