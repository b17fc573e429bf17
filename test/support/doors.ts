import type { Procedure } from '../../src/doors/procedures.ts';
import { type Outcome, openCalls } from './sockets.ts';

/** An id that nothing has. */
export const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** Somebody, or nobody, at every door through which procedures are called: for tests that are made from the router. */
export function openDoors(url: string, token?: string) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const calls = openCalls(url, token);

  async function byRest({ meta }: Procedure, input: Record<string, unknown>): Promise<Outcome[]> {
    if (!meta?.openapi) return [];
    const { method, path, bodyMember } = meta.openapi;
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(String(input[name] ?? NOWHERE)),
    );
    const body = bodyMember === undefined ? input : (input[bodyMember] ?? {});
    const response = await fetch(`${url}/api/v1${address}`, {
      method,
      headers,
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { code?: string } | null;
    return [{ status: response.status, code: answer?.code }];
  }

  async function byTrpc({ path, type }: Procedure, input: unknown): Promise<Outcome> {
    const text = JSON.stringify(input);
    const response = await (type === 'query'
      ? fetch(`${url}/trpc/${path}?input=${encodeURIComponent(text)}`, { headers })
      : fetch(`${url}/trpc/${path}`, { method: 'POST', headers, body: text }));
    const answer = (await response.json()) as { error?: { data: { error_code: string } } };
    return { status: response.status, code: answer.error?.data.error_code };
  }

  return {
    /** What becomes of a procedure by REST, if it is there, by tRPC over HTTP, and by tRPC over a socket that stays. */
    async try(procedure: Procedure, input: Record<string, unknown> = {}): Promise<Outcome[]> {
      const { type, path } = procedure;
      // One after the other: what the one changes the next one finds. A subscription has the socket alone.
      const overHttp =
        type === 'subscription' ? [] : [...(await byRest(procedure, input)), await byTrpc(procedure, input)];
      return [...overHttp, await calls.attempt(type, path, input)];
    },
    close: calls.close,
  };
}
