import { createContext, use, useCallback, useEffect, useState, useSyncExternalStore } from 'react';
import { api } from '../../api/client.ts';
import { useLive, useLiveState } from '../../api/live.ts';

/** The people of a channel who are online. */
class Presence {
  #present: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly has = (userId: string): boolean => this.#present.has(userId);

  set(userIds: Iterable<string>): void {
    this.#present = new Set(userIds);
    for (const listener of this.#listeners) listener();
  }

  change(userId: string, isPresent: boolean): void {
    if (this.has(userId) === isPresent) return;
    const others = [...this.#present].filter((id) => id !== userId);
    this.set(isPresent ? [...others, userId] : others);
  }
}

export const PresenceContext = createContext(new Presence());

/** Follows who is online in a channel. */
export function usePresence(channelId: string): Presence {
  const [presence] = useState(() => new Presence());
  const { state } = useLiveState();
  useEffect(() => {
    let isShown = true;
    // Notices of the time without a connection are lost. Without an answer the dots stay away.
    if (state === 'live')
      void api.members.present.query({ id: channelId }).then(
        (people) => isShown && presence.set(people.map(({ user_id }) => user_id)),
        () => {},
      );
    return () => {
      isShown = false;
    };
  }, [presence, channelId, state]);
  useLive({
    onNotice({ channel_id, data, user }) {
      if (channel_id !== channelId || data.type !== 'presence') return;
      presence.change(user.id, data.data.is_active === true);
    },
  });
  return presence;
}

export function useIsPresent(userId: string): boolean {
  const presence = use(PresenceContext);
  return useSyncExternalStore(
    presence.subscribe,
    useCallback(() => presence.has(userId), [presence, userId]),
  );
}
