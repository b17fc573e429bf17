import { createClient } from '@parley/client';
import { connection } from './connection.ts';

/** The session is in a cookie that scripts cannot read, so the client has no token. */
export const client = createClient({
  url: window.location.origin,
  onConnection: (state, error) => connection.set({ state, error }),
});

export const { api } = client;
