import multipart, { type Multipart } from '@fastify/multipart';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import { AppError } from '../../core/errors.ts';
import type { Actor, Parts, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { type FileContent, getContent } from '../../files/files.content.ts';
import { getFile, knownId } from '../../files/files.service.ts';
import { type FormPart, maxUploadBytes, tooLarge, uploadFile } from '../../files/files.upload.ts';
import { buildHttpContext } from '../http/context.ts';
import { REST_PREFIX } from '../rest/rest.ts';

/** The most bytes of a form beside its file. */
const FORM_BYTES = 1024 * 1024;

/** A form has one file and a few small fields. */
const FORM_LIMITS = {
  files: 1,
  fields: 8,
  parts: 9,
  fieldNameSize: 100,
  fieldSize: LIMITS.freeFormBytes,
  headerPairs: 20,
};

/**
 * Uploads and downloads: procedures do not take or return bytes, so these are plain routes. Callers are admitted as for every
 * procedure.
 */
export async function mountFiles(app: FastifyInstance, parts: Parts): Promise<void> {
  // In a scope of its own, because no other route takes forms.
  await app.register(async (inner) => {
    await inner.register(multipart, { limits: FORM_LIMITS, throwFileSizeLimit: false });
    inner.post(`${REST_PREFIX}/files`, { config: { streamsBody: true } }, (request, reply) =>
      answerUpload(parts, request, reply),
    );
  });
  for (const last of ['', '/:name']) {
    app.route<ById>({
      // HEAD is named because the HEAD that Fastify derives from GET reads the whole file to find its length.
      method: ['GET', 'HEAD'],
      url: `${REST_PREFIX}/files/:id/content${last}`,
      async handler(request, reply) {
        const { params, query } = request;
        const path = ['files', params.id, 'content'];
        const content = await answer(parts, request, reply, { type: 'query', path }, (scope) =>
          getContent(scope, knownId(params.id)),
        );
        const isForSaving = params.name !== undefined || query.attachment === 'true';
        return sendContent(isForSaving ? { ...content, isInline: false } : content, request, reply);
      },
    });
  }
  app.get<ById>(`${REST_PREFIX}/files/:id/process/status`, async (request, reply) => {
    const path = ['files', request.params.id, 'process', 'status'];
    const { data } = await answer(parts, request, reply, { type: 'query', path }, (scope) =>
      getFile(scope, knownId(request.params.id)),
    );
    const { status } = data;
    if (request.query.stream !== 'true') return { status };
    // Files are not processed, so the first event is the last.
    reply.header('content-type', 'text/event-stream').header('cache-control', 'no-cache');
    return reply.send(`data: ${JSON.stringify({ status })}\n\n`);
  });
}

interface ById {
  Params: { id: string; name?: string };
  Querystring: { attachment?: string; stream?: string };
}

function answer<T>(
  parts: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  { type, path }: { type: 'query' | 'mutation'; path: string[] },
  work: (scope: Scope) => Promise<T>,
): Promise<T> {
  // Size 0: the bytes of an upload are streamed, not kept.
  const context = { ...buildHttpContext(parts, request, reply), bytes: 0 };
  const call = { level: 'member', type, signal: undefined, reach: () => [['api', ...path]] } as const;
  return answerCall<Actor, T>(context, call, work);
}

async function answerUpload(parts: Parts, request: FastifyRequest, reply: FastifyReply) {
  return answer(parts, request, reply, { type: 'mutation', path: ['files'] }, async (scope) => {
    if (!request.isMultipart()) {
      throw new AppError('media_type', {
        detail: 'Send a form, with the header Content-Type: multipart/form-data.',
      });
    }
    const max = maxUploadBytes(scope);
    // Refuses a declared size that is too large before the body is sent.
    if (Number(request.headers['content-length']) > max + FORM_BYTES) throw tooLarge(max);
    return { status: true, ...(await uploadFile(scope, readForm(request, max))) };
  });
}

/** The parts of a form as they arrive. @throws AppError for a malformed or too large form */
async function* readForm(request: FastifyRequest, maxBytes: number): AsyncGenerator<FormPart> {
  // The service counts the bytes of the file, so one more than allowed must reach it.
  const parts = request.parts({ limits: { fileSize: maxBytes + 1 } });
  try {
    while (true) {
      const { value, done } = await parts.next().catch((error: unknown) => {
        throw refusal(error);
      });
      if (done) return;
      yield partOf(value);
    }
  } finally {
    await parts.return?.(undefined).catch(() => {});
  }
}

function partOf(part: Multipart): FormPart {
  const { fieldname: name } = part;
  if (part.type === 'file') {
    return { kind: 'file', name, filename: part.filename ?? '', bytes: bytesOf(part.file) };
  }
  if (part.fieldnameTruncated || part.valueTruncated) {
    throw new AppError('too_large', { detail: `The field ${JSON.stringify(name)} of the form is too long.` });
  }
  return { kind: 'field', name, value: part.value };
}

async function* bytesOf(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* file;
  } catch (error) {
    throw refusal(error);
  }
}

/** Every error of the parser is a fault of the form. */
function refusal(error: unknown): AppError {
  const { statusCode } = error as { statusCode?: number };
  return statusCode === 413
    ? new AppError('too_large', { detail: 'The form has too many parts.', cause: error })
    : new AppError('bad_request', { detail: 'The form is broken off or not well-formed.', cause: error });
}

/**
 * Sends uploaded bytes from our own origin. Their type was detected at upload and browsers must not guess another; a page made of them
 * has no origin and runs no script.
 */
async function sendContent(content: FileContent, request: FastifyRequest, reply: FastifyReply) {
  const { contentType, size, filename, isInline, hash } = content;
  const etag = `"${hash}"`;
  const common = { ...SAFE, etag };
  if (matches(request.headers['if-none-match'], etag)) return reply.headers(common).code(304).send();
  const disposition = contentDisposition(filename, { type: isInline ? 'inline' : 'attachment' });
  if (content.link && mayLeave(request)) {
    await content.require();
    const location = await content.link(disposition);
    return reply.headers(REDIRECT).redirect(location, 302);
  }
  const range = rangeOf(request, size, etag);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`);
    throw new AppError('range_unsatisfiable');
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  const isWanted = request.method !== 'HEAD' && size > 0;
  // Before the headers, which must not go with an error.
  const bytes = isWanted ? await content.open(range) : await content.require();
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`);
  const length = { 'content-length': end - start + 1 };
  reply.headers({ ...common, ...length, 'content-type': contentType, 'content-disposition': disposition });
  return reply.send(bytes);
}

const SAFE = {
  'cache-control': 'private, no-cache',
  'accept-ranges': 'bytes',
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-site',
  'x-content-type-options': 'nosniff',
};

/** The address is as good as the file for a minute. */
const REDIRECT = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

/**
 * Whether the caller follows a redirect to another server: browsers that open or save the file, and programs. Scripts and pictures of
 * the page are bound to this server by its policy. Browsers that do not tell the mode send cookies.
 */
function mayLeave({ method, headers }: FastifyRequest): boolean {
  const { 'sec-fetch-mode': mode, cookie } = headers;
  return method === 'GET' && (mode === undefined ? cookie === undefined : mode === 'navigate');
}

/** Whether a list of entity tags has one; weak comparison, RFC 9110, 13.1.2. */
const matches = (header: string | undefined, etag: string) =>
  header?.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim())) ?? false;

/** The requested range of bytes. Several ranges, and malformed ones, are answered with the whole file (RFC 9110, 14.2). */
function rangeOf({ headers, method }: FastifyRequest, size: number, etag: string) {
  const condition = headers['if-range'];
  if (method !== 'GET' || !headers.range || (condition !== undefined && condition !== etag)) return undefined;
  const ranges = parseRange(size, headers.range, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}
