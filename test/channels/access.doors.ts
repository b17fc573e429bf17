import { ERRORS } from '../../src/core/errors.ts';
import { listProcedures } from '../../src/doors/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { subscribe } from '../events/listen.ts';
import { call, type Person } from '../support/server.ts';
import { openCalls } from '../support/sockets.ts';
import type { Input } from './access.actions.ts';
import type { Outcome } from './access.rights.ts';

export const PROCEDURES = new Map(listProcedures(appRouter).map((procedure) => [procedure.path, procedure]));

export interface Attempt {
  procedure: string;
  input: Input;
}

/** One way in: what somebody is answered there. */
export interface Door {
  /** Undefined for what the door does not have. */
  attempt(person: Person, attempt: Attempt): Promise<Outcome> | undefined;
  close(): void;
}

const typeOf = (procedure: string) => PROCEDURES.get(procedure)?.type ?? 'query';

/** The request that the procedure's own declaration makes of an input. */
export function requestOf({
  procedure,
  input,
}: Attempt): { request: string; body: Input | undefined } | undefined {
  const { method, path = '' } = PROCEDURES.get(procedure)?.meta?.openapi ?? {};
  if (!method) return undefined;
  const rest = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const value = String(rest[name]);
    delete rest[name];
    return value;
  });
  if (method === 'POST') return { request: `POST ${filled}`, body: rest };
  const query = new URLSearchParams(rest as Record<string, string>).toString();
  return { request: `${method} ${filled}${query && `?${query}`}`, body: undefined };
}

const overRest = (url: string): Door => ({
  attempt({ token }, attempt) {
    const made = requestOf(attempt);
    return (
      made &&
      call(url, made.request, { token, body: made.body }).then(({ status, body }) => ({
        status,
        code: status === 200 ? undefined : body?.code,
      }))
    );
  },
  close() {},
});

const overTrpc = (url: string): Door => ({
  attempt({ token }, { procedure, input }) {
    const type = typeOf(procedure);
    if (type === 'subscription') return undefined;
    const isQuery = type === 'query';
    const query = isQuery ? `?input=${encodeURIComponent(JSON.stringify(input))}` : '';
    return fetch(`${url}/trpc/${procedure}${query}`, {
      method: isQuery ? 'GET' : 'POST',
      headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' },
      ...(!isQuery && { body: JSON.stringify(input) }),
    }).then(async (response) => {
      const answer = (await response.json()) as { error?: { data: { error_code: string } } };
      return { status: response.status, code: answer.error?.data.error_code };
    });
  },
  close() {},
});

/** Calls and subscriptions over one socket for each person. */
function overTrpcSocket(url: string): Door {
  const sockets = new Map<string, ReturnType<typeof openCalls>>();
  return {
    async attempt({ token }, { procedure, input }) {
      if (typeOf(procedure) === 'subscription') {
        const { failure, close } = await subscribe(url, token || undefined, input);
        close();
        if (failure === undefined) return { status: 200, code: undefined };
        return { status: ERRORS[failure as keyof typeof ERRORS].status, code: failure };
      }
      const socket = sockets.get(token) ?? openCalls(url, token || undefined);
      sockets.set(token, socket);
      return socket.attempt(typeOf(procedure), procedure, input);
    },
    close() {
      for (const { close } of sockets.values()) close();
    },
  };
}

export const DOORS = { REST: overRest, tRPC: overTrpc, 'tRPC socket': overTrpcSocket };
export type DoorName = keyof typeof DOORS;
