import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { Reach } from '../../core/access.ts';
import { AppError, sentence } from '../../core/errors.ts';
import { describeIssues } from '../../core/failure.ts';
import { type Actor, derivedScope, type Scope } from '../../core/scope.ts';
import { freeForm, id, LIMITS, name } from '../../core/wire.ts';
import { getContent } from '../../files/files.content.ts';
import type { FileView } from '../../files/files.schema.ts';
import { listFiles } from '../../files/files.service.ts';
import { getFileDetail } from '../../files/files.text.ts';
import { findUserByEmail, foldEmail, getUser } from '../../users/users.service.ts';
import { openUploads, type Uploads } from './uploads.ts';

/** The largest part of a file that a tool gets at once. */
const PART_BYTES = 4 * 1024 ** 2;

type Operation = (scope: Scope, input: unknown, uploads: Uploads) => Promise<unknown>;

/**
 * The input of a function is checked like that of a client: both are untrusted. The function has the current
 * rights of its caller; with an API key, only where the key may also make the request itself, under one of
 * the paths in `reach`.
 */
const operation =
  <T>(
    shape: z.ZodType<T>,
    reach: (input: T, scope: Scope) => Reach,
    carryOut: (scope: Scope, input: T, uploads: Uploads) => Promise<unknown>,
  ): Operation =>
  async (scope, input, uploads) => {
    const parsed = shape.safeParse(input);
    if (!parsed.success) throw unfit(parsed.error);
    const actor = await identify(scope, reach(parsed.data, scope));
    return carryOut(derivedScope(scope, { actor }), parsed.data, uploads);
  };

function unfit(error: z.ZodError): AppError {
  const what = describeIssues(error).slice(0, 1).map(sentence);
  const detail = `What the tool asks for does not have the expected shape: ${what}`;
  return new AppError('validation', { detail });
}

async function identify(scope: Scope, reach: Reach): Promise<Actor> {
  try {
    return await scope.identify(reach);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'endpoint_forbidden') throw error;
    const places = reach.map((path) => `/${path.slice(0, 2).join('/')}`).join(' or ');
    const detail = `The API key of the caller does not reach what the tool asks for under ${places}.`;
    throw new AppError(error.code, { detail, cause: error });
  }
}

const FILES = ['api', 'files'];
const USERS = ['api', 'users'];
/** The path of an account; for the caller's own account, also the path that describes the caller. */
const accountReach = (id: string, { actor }: Scope): Reach =>
  id === actor.id
    ? [
        ['api', 'auths'],
        [...USERS, id],
      ]
    : [[...USERS, id]];

const none = z.object({});
const part = {
  data: z.base64().transform((text) => Buffer.from(text, 'base64')),
  is_last: z.boolean(),
};

/** All operations that a tool may request. Each has the rights of the caller. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  // Only administrators see accounts; for other callers, an account that they may not see does not exist.
  'users.get': operation(
    z.object({ id: z.string() }),
    (input, scope) => accountReach(input.id, scope),
    async (scope, input) => {
      const isVisible = scope.actor.role === 'admin' || input.id === scope.actor.id;
      const known = isVisible ? id().safeParse(input.id).data : undefined;
      return known === undefined ? null : unlessMissing(getUser(scope, known));
    },
  ),
  'users.find': operation(
    z.object({ email: z.string() }),
    ({ email }, scope) =>
      foldEmail(email) === scope.actor.email ? accountReach(scope.actor.id, scope) : [USERS],
    async (scope, input) => {
      const isVisible = scope.actor.role === 'admin' || foldEmail(input.email) === scope.actor.email;
      const known = isVisible ? name().safeParse(input.email).data : undefined;
      return known === undefined ? null : findUserByEmail(scope, known);
    },
  ),
  'files.get': operation(
    z.object({ id: z.string() }),
    (input) => [[...FILES, input.id]],
    async (scope, input) => {
      const known = id().safeParse(input.id).data;
      return known === undefined ? null : unlessMissing(getFileDetail(scope, known));
    },
  ),
  'files.read': operation(
    z.object({ id: id(), start: z.int().min(0) }),
    (input) => [[...FILES, input.id, 'content']],
    readPart,
  ),
  'files.list': operation(
    none,
    () => [FILES],
    (scope) => listFiles(scope, { skip: 0, limit: LIMITS.pageSize }),
  ),
  'files.upload': operation(
    z.object({ filename: name(), metadata: freeForm(), ...part }),
    () => [FILES],
    (scope, input, uploads) => uploads.begin(scope, input),
  ),
  'files.upload.part': operation(
    z.object({ upload: z.int(), ...part }),
    () => [FILES],
    (_scope, input, uploads) => uploads.add(input),
  ),
};

/** Bytes of a file from an offset, as Base64; empty beyond the end. */
async function readPart(scope: Scope, { id, start }: { id: string; start: number }): Promise<string> {
  const { size, open } = await getContent(scope, id);
  if (start >= size) return '';
  const end = Math.min(size, start + PART_BYTES) - 1;
  return (await buffer(await open({ start, end }))).toString('base64');
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/** The requests of a tool's functions to the server during one call. */
export interface ToolRequests {
  /**
   * Serves a request of a stand-in for a function, with the current rights of the caller.
   *
   * @throws Error with one sentence for the author of the tool, and no other detail of the failure
   */
  serve(name: string, input: unknown): Promise<unknown>;
  /** Call at the end of the call: removes incomplete uploads. */
  close(): void;
}

/** @param onUpload called with each file that the tool has uploaded */
export function openRequests(scope: Scope, onUpload?: (file: FileView) => void): ToolRequests {
  const uploads = openUploads(onUpload);
  return {
    async serve(name, input) {
      try {
        if (!Object.hasOwn(OPERATIONS, name))
          throw new AppError('not_found', { detail: `The server has no ${name}.` });
        return await OPERATIONS[name]?.(scope, input, uploads);
      } catch (error) {
        if (error instanceof AppError) throw error;
        scope.log.error({ err: error }, 'A request of a tool failed.');
        throw new AppError('internal');
      }
    },
    close: uploads.close,
  };
}
