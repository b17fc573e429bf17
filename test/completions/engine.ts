import { z } from 'zod';
import { complete } from '../../src/completions/completions.service.ts';
import type {
  CompletionEvent,
  CompletionRequest,
  ToolCallRecord,
} from '../../src/completions/completions.types.ts';
import { type Actor, createScope, type Parts, type Scope } from '../../src/core/scope.ts';
import { enqueue } from '../../src/jobs/enqueue.ts';
import { defineJob } from '../../src/jobs/kind.ts';
import { resolveModel } from '../../src/models/models.resolve.ts';
import { sqlOf, type TestDatabase, withClient } from '../support/database.ts';
import type { Person } from '../support/server.ts';

/** A job hands the parts of the server that runs it to the test. */
export function partsOfServer() {
  const captured = Promise.withResolvers<Parts>();
  const kind = defineJob({
    name: 'test.parts',
    payload: z.object({}),
    run: async (parts) => captured.resolve(parts),
    timeLimitMs: 60_000,
    attempts: 1,
    backOffSeconds: () => 1,
    concurrency: 1,
  });
  return {
    kind,
    async capture(database: TestDatabase): Promise<Parts> {
      await withClient(database.url, (client) => enqueue(sqlOf(client), kind, {}));
      return captured.promise;
    },
  };
}

/** The scope of a call of this person. */
export function scopeOf(parts: Parts, person: Person, role: Actor['role']): Scope {
  const { id, email } = person;
  const actor: Actor = {
    id,
    email,
    role,
    name: 'Test',
    sessionId: null,
    keyId: null,
    granted: [],
    expiresAt: null,
  };
  return createScope({
    parts,
    actor,
    request: { id: 'test', ip: '127.0.0.1', userAgent: 'test', sameOrigin: false },
    reply: { setSession() {} },
    identify: async () => actor,
    signal: undefined,
  });
}

/** A turn, as its caller gets it. */
export interface Turn {
  events: CompletionEvent[];
  text: string;
  /** The calls of tools, as they ended. */
  calls: ToolCallRecord[];
  end: Extract<CompletionEvent, { type: 'end' }> | undefined;
}

type Asked = Partial<Omit<CompletionRequest, 'model'>> & {
  model?: string;
  change?: Partial<CompletionRequest['model']>;
  onEvent?: (event: CompletionEvent) => void;
};

/** Runs a turn. @param asked `change`: members of the resolved model that the test replaces */
export async function runTurn(
  administrator: Scope,
  scope: Scope,
  { model = 'small', change, onEvent, ...request }: Asked = {},
): Promise<Turn> {
  const resolved = { ...(await resolveModel(administrator, model)), ...change };
  const turn: Turn = { events: [], text: '', calls: [], end: undefined };
  for await (const event of complete(scope, {
    messages: [{ role: 'user', content: 'Hello' }],
    signal: new AbortController().signal,
    ...request,
    model: resolved,
  })) {
    turn.events.push(event);
    onEvent?.(event);
    if (event.type === 'chunk') turn.text += event.chunk.choices[0]?.delta?.content ?? '';
    if (event.type === 'tool' && event.call.status !== 'running') turn.calls.push(event.call);
    if (event.type === 'end') turn.end = event;
  }
  return turn;
}
