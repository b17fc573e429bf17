import type { ChannelEvent, ChannelNotice, EventsState, ParleyError } from '@parley/client';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { api, client } from './client.ts';
import { noticeEnd } from './query.ts';

/** One subscription carries the events of all channels that the person may read; views listen to parts of it. */

interface Listener {
  onEvent?(event: ChannelEvent): void;
  onNotice?(notice: ChannelNotice): void;
  /** The missed events are gone, or the access has changed: read the channel again. */
  onReload?(channelId: string): void;
}

interface LiveState {
  state: EventsState;
  error: ParleyError | null;
}

const listeners = new Set<Listener>();
const watchers = new Set<() => void>();
let current: LiveState = { state: 'connecting', error: null };

function setState(state: EventsState, error: ParleyError | null) {
  current = { state, error };
  for (const watcher of watchers) watcher();
}

let position: Promise<string | undefined> | null = null;
let isStarted = false;

/**
 * The position where the events of this page begin. A view that reads before it listens asks for it first: later events are
 * delivered when the views are there. Undefined without an answer: the events begin when they can.
 */
export function startPosition(): Promise<string | undefined> {
  position ??= api.channels.cursor.query().then(
    ({ cursor }) => cursor,
    () => undefined,
  );
  return position;
}

/** Whether events are delivered to the views that are there. */
export const isLiveStarted = (): boolean => isStarted;

/** Follows all events until the returned function is called. */
export function startLive(): () => void {
  setState('connecting', null);
  isStarted = true;
  let isEnded = false;
  let stop: (() => void) | null = null;
  void startPosition().then((lastEventId) => {
    if (!isEnded) stop = follow(lastEventId);
  });
  return () => {
    isEnded = true;
    isStarted = false;
    position = null;
    stop?.();
  };
}

function follow(lastEventId: string | undefined): () => void {
  const subscription = client.events({
    ...(lastEventId !== undefined && { lastEventId }),
    onEvent: (event) => {
      for (const listener of [...listeners]) listener.onEvent?.(event);
    },
    onNotice: (notice) => {
      for (const listener of [...listeners]) listener.onNotice?.(notice);
    },
    onReload: (channelId) => {
      for (const listener of [...listeners]) listener.onReload?.(channelId);
    },
    onState: setState,
    onError(error) {
      setState('ended', error);
      noticeEnd(error);
    },
  });
  // The state has the reason of a refusal.
  subscription.ready.catch(() => {});
  return () => subscription.unsubscribe();
}

/** Whether events arrive: `connecting` also during a lost connection. */
export const useLiveState = (): LiveState =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => current,
  );

/** Calls the functions for each event while the component is shown. */
export function useLive({ onEvent, onNotice, onReload }: Listener): void {
  const heard = useEffectEvent((event: ChannelEvent) => onEvent?.(event));
  const noticed = useEffectEvent((notice: ChannelNotice) => onNotice?.(notice));
  const reloaded = useEffectEvent((channelId: string) => onReload?.(channelId));
  useEffect(() => {
    const listener: Listener = {
      onEvent: (event) => heard(event),
      onNotice: (notice) => noticed(notice),
      onReload: (channelId) => reloaded(channelId),
    };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, []);
}
