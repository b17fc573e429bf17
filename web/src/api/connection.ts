import type { ConnectionState, ParleyError } from '@parley/client';
import { useSyncExternalStore } from 'react';

interface Connection {
  state: ConnectionState;
  /** Why the last connection was lost. */
  error: ParleyError | null;
}

let current: Connection = { state: 'idle', error: null };
const listeners = new Set<() => void>();

/** The state of the socket of events. */
export const connection = {
  get: () => current,
  set(next: Connection) {
    current = next;
    for (const listener of listeners) listener();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export const useConnection = (): Connection => useSyncExternalStore(connection.subscribe, connection.get);
