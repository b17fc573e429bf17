import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { freeForm, id, LIMITS, name } from '../core/wire.ts';
import { getContent } from '../files/files.content.ts';
import { getFile, listFiles } from '../files/files.service.ts';
import { type FormPart, uploadFile } from '../files/files.upload.ts';
import { getUser } from '../users/users.service.ts';

/** What a tool gets of a file at once. */
const PART_BYTES = 4 * 1024 ** 2;

type Operation = (scope: Scope, input: unknown) => Promise<unknown>;

/** What a function of a tool wants is checked as what a client sends: both are written by strangers. */
const operation =
  <T>(shape: z.ZodType<T>, carryOut: (scope: Scope, input: T) => Promise<unknown>): Operation =>
  (scope, input) => {
    const parsed = shape.safeParse(input);
    if (!parsed.success) throw new AppError('validation');
    return carryOut(scope, parsed.data);
  };

const none = z.object({});
const base64 = () => z.base64().transform((text) => Buffer.from(text, 'base64'));

/** The whole of what a tool may have the server do: what its caller may, and no more. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'users.me': operation(none, (scope) => getUser(scope, scope.actor.id)),
  // Accounts are for administrators to see; to others, those that they may not see are not there.
  'users.get': operation(z.object({ id: z.string() }), async (scope, input) => {
    const isVisible = scope.actor.role === 'admin' || input.id === scope.actor.id;
    const known = isVisible ? id().safeParse(input.id).data : undefined;
    return known === undefined ? null : unlessMissing(getUser(scope, known));
  }),
  'files.get': operation(z.object({ id: z.string() }), async (scope, input) => {
    const known = id().safeParse(input.id).data;
    return known === undefined ? null : unlessMissing(getFile(scope, known));
  }),
  'files.read': operation(z.object({ id: id(), start: z.int().min(0) }), readPart),
  'files.list': operation(none, (scope) => listFiles(scope, { skip: 0, limit: LIMITS.pageSize })),
  'files.upload': operation(
    z.object({ filename: name(), data: base64(), metadata: freeForm() }),
    (scope, { filename, data, metadata }) => uploadFile(scope, form(filename, data, metadata)),
  ),
};

/** Bytes of a file from one on, as Base64; none beyond its end. */
async function readPart(scope: Scope, { id, start }: { id: string; start: number }): Promise<string> {
  const { size, open } = await getContent(scope, id);
  if (start >= size) return '';
  const end = Math.min(size, start + PART_BYTES) - 1;
  return (await buffer(open({ start, end }))).toString('base64');
}

async function* form(filename: string, data: Buffer, metadata: object): AsyncGenerator<FormPart> {
  yield { kind: 'field', name: 'metadata', value: metadata };
  yield { kind: 'file', name: 'file', filename, bytes: Readable.from([data]) };
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/**
 * Does for a function of a tool what its stand-ins ask of the server, with the rights that the caller has at this moment.
 *
 * @throws Error with a sentence for the author of the tool, and nothing else of what went wrong
 */
export async function serveTool(scope: Scope, name: string, input: unknown): Promise<unknown> {
  try {
    if (!Object.hasOwn(OPERATIONS, name))
      throw new AppError('not_found', { detail: `The server has no ${name}.` });
    return await OPERATIONS[name]?.(
      { ...scope, em: scope.orm.em.fork(), actor: await scope.identify() },
      input,
    );
  } catch (error) {
    if (error instanceof AppError) throw error;
    scope.log.error({ err: error }, 'A request of a tool failed.');
    throw new AppError('internal');
  }
}
