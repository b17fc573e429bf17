import type { Procedure } from '../../src/doors/http/procedures.ts';
import { call } from './server.ts';
import { type Outcome, openCalls } from './sockets.ts';

/** A valid id without a resource. */
export const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** The doors by which procedures are called. */
export const DOOR_NAMES = ['REST', 'tRPC', 'tRPC socket'] as const;
export type DoorName = (typeof DOOR_NAMES)[number];

type Input = Record<string, unknown>;

/** The REST request for a procedure and an input; undefined for a procedure without a REST path. */
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

/**
 * Opens every door for calls of procedures, with or without a token; for tests that are generated from the
 * router.
 */
export function openDoors(url: string, token?: string) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  let calls = openCalls(url, token);
  /** True when the server may close the socket at any time, because credentials are missing or have ended. */
  let isUnproved = !token;

  /** Each returns undefined for a procedure that it does not have. */
  const doors: Record<DoorName, (procedure: Procedure, input: Input) => Promise<Outcome | undefined>> = {
    async REST(procedure, input) {
      const made = requestOf(procedure, input);
      if (!made) return undefined;
      const { status, body } = await call(url, made.request, { token, body: made.body });
      return { status, code: status === 200 ? undefined : body?.code };
    },
    async tRPC({ path, type }, input) {
      // Streams over HTTP are not offered.
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
    /** The outcome of a procedure at each door that has it. */
    async try(procedure: Procedure, input: Input = {}): Promise<Outcome[]> {
      const outcomes: Outcome[] = [];
      // One door after the other, since a call may change what the next one finds.
      for (const name of DOOR_NAMES) {
        const outcome = await doors[name](procedure, input);
        if (outcome) outcomes.push(outcome);
      }
      return outcomes;
    },
    close: () => calls.close(),
  };
}
