import type { Procedure } from '../../src/doors/http/procedures.ts';
import { call } from './server.ts';
import { type Outcome, openCalls } from './sockets.ts';

/** An id that nothing has. */
export const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** The ways in by which procedures are called. */
export const DOOR_NAMES = ['REST', 'tRPC', 'tRPC socket'] as const;
export type DoorName = (typeof DOOR_NAMES)[number];

type Input = Record<string, unknown>;

/** The request that a procedure's own declaration makes of an input; undefined for what REST does not have. */
export function requestOf({ meta }: Procedure, input: Input): { request: string; body: unknown } | undefined {
  if (!meta?.openapi) return undefined;
  const { method, path, bodyMember } = meta.openapi;
  const named = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
    encodeURIComponent(String(input[name] ?? NOWHERE)),
  );
  const rest = Object.entries(input).filter(([name]) => !named.has(name));
  if (method === 'POST') {
    const body = bodyMember === undefined ? Object.fromEntries(rest) : (input[bodyMember] ?? {});
    return { request: `POST ${address}`, body };
  }
  const query = new URLSearchParams();
  for (const [name, value] of rest) if (typeof value !== 'object') query.append(name, String(value));
  return { request: `${method} ${address}?${query}`, body: undefined };
}

/** Somebody, or nobody, at every door through which procedures are called: for tests that are made from the router. */
export function openDoors(url: string, token?: string) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  let calls = openCalls(url, token);
  /** Whether the server may close the socket at any time, as it does where credentials are missing or have ended. */
  let isUnproved = !token;

  /** Each answers undefined for what it does not have. */
  const doors: Record<DoorName, (procedure: Procedure, input: Input) => Promise<Outcome | undefined>> = {
    async REST(procedure, input) {
      const made = requestOf(procedure, input);
      if (!made) return undefined;
      const { status, body } = await call(url, made.request, { token, body: made.body });
      return { status, code: status === 200 ? undefined : body?.code };
    },
    async tRPC({ path, type }, input) {
      // A stream over HTTP is no door of ours.
      if (type === 'subscription') return undefined;
      const text = JSON.stringify(input);
      const response = await (type === 'query'
        ? fetch(`${url}/trpc/${path}?input=${encodeURIComponent(text)}`, { headers })
        : fetch(`${url}/trpc/${path}`, { method: 'POST', headers, body: text }));
      const answer = (await response.json()) as { error?: { data: { error_code: string } } };
      return { status: response.status, code: answer.error?.data.error_code };
    },
    async 'tRPC socket'({ path, type }, input) {
      if (isUnproved) {
        calls.close();
        calls = openCalls(url, token);
      }
      const outcome = await calls.attempt(type, path, input);
      isUnproved = !token || outcome.status === 401;
      return outcome;
    },
  };

  return {
    at: doors,
    /** What becomes of a procedure at each of the doors that have it. */
    async try(procedure: Procedure, input: Input = {}): Promise<Outcome[]> {
      const outcomes: Outcome[] = [];
      // One after the other: what the one changes the next one finds.
      for (const name of DOOR_NAMES) {
        const outcome = await doors[name](procedure, input);
        if (outcome) outcomes.push(outcome);
      }
      return outcomes;
    },
    close: () => calls.close(),
  };
}
