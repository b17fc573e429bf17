import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, invalidMembers } from '../../core/errors.ts';
import { describeIssues } from '../../core/failure.ts';
import { checkJsonText, parseJsonText } from '../../core/json/incoming.ts';
import { type Range, scanElements } from '../../core/json/json.elements.ts';
import type { Parts, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { ToolImportForm } from '../../tools/import/import.schema.ts';
import { importTools, requireImporter } from '../../tools/import/import.service.ts';
import { buildHttpContext } from '../http/context.ts';
import { REST_PREFIXES, signalOf } from '../rest/rest.ts';

/** Of an export of other servers, with the sources and specifications of all its tools. */
const MAX_BYTES = 64 * 1024 ** 2;
/** Of what is not in the tools. */
const MAX_OUTSIDE_BYTES = 64 * 1024;
/** Of all lists; whether those of the tools are too many is said in words. */
const MAX_ELEMENTS = 10_000;

/**
 * The import of tools takes more than other calls, so it has a plain route: the text is kept as bytes, and one tool of it is read at
 * a time. One such text larger than other bodies may be is kept at a time in a process.
 */
export async function mountImports(app: FastifyInstance, parts: Parts): Promise<void> {
  let isTaken = false;

  /** A place for a large text. @throws unavailable while there is none */
  function takePlace(request: FastifyRequest): () => void {
    if (Number(request.headers['content-length'] ?? Infinity) <= LIMITS.bodyBytes) return () => {};
    if (isTaken) {
      const detail = 'Another large import is being read. Try again in a moment.';
      throw new AppError('unavailable', { detail, retryAfterSeconds: 5 });
    }
    isTaken = true;
    return () => {
      isTaken = false;
    };
  }

  function answer(request: FastifyRequest, reply: FastifyReply) {
    const call = {
      level: 'member',
      type: 'mutation',
      signal: signalOf(reply),
      reach: () => [['api', 'tools', 'import']],
    } as const;
    // The body is not read yet: it counts for nothing while the call waits.
    const context = { ...buildHttpContext(parts, request, reply), bytes: 0 };
    return answerCall(context, call, (scope: Scope) => importFrom(request, scope));
  }

  async function importFrom(request: FastifyRequest, scope: Scope) {
    requireImporter(scope);
    const giveBack = takePlace(request);
    try {
      const { text, elements } = await readText(request);
      const { tools, dry_run } = readForm(text, elements);
      for (const range of elements) {
        checkTool(text, range);
        // One of 4 MiB takes its time.
        await setImmediate();
      }
      const items = (function* () {
        for (const place of tools) yield readTool(text, elements[place]);
      })();
      return await importTools(scope, items, dry_run);
    } finally {
      giveBack();
    }
  }

  await app.register(async (inner) => {
    inner.removeAllContentTypeParsers();
    // The handler reads it, once it knows who calls.
    inner.addContentTypeParser('application/json', (_request, body, done) => done(null, body));
    for (const prefix of REST_PREFIXES)
      inner.post(`${prefix}/tools/import`, { bodyLimit: MAX_BYTES, config: { streamsBody: true } }, answer);
  });
}

/** @throws too_large, bad_request */
async function readText({ headers, body }: FastifyRequest): Promise<{ text: Buffer; elements: Range[] }> {
  const tooLarge = new AppError('too_large', { detail: `An import has at most ${MAX_BYTES} bytes.` });
  if (Number(headers['content-length']) > MAX_BYTES) throw tooLarge;
  // No body at all is no JSON either.
  if (!body) throw new AppError('malformed_json');
  const scanner = scanElements();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of (body as Readable).iterator({
    destroyOnReturn: false,
  }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw tooLarge;
    scanner.feed(chunk);
    if (scanner.outside() > MAX_OUTSIDE_BYTES || scanner.elements.length > MAX_ELEMENTS)
      throw new AppError('too_large', {
        detail: 'Beside its tools, an import is small: {"tools": […], "dry_run": …}.',
      });
    chunks.push(chunk);
  }
  return { text: Buffer.concat(chunks), elements: scanner.elements };
}

/** The text around the tools, in which the number of each stands for it. @throws malformed_json, validation, bad_request */
function readForm(text: Buffer, elements: Range[]) {
  const parts: string[] = [];
  let from = 0;
  for (const [place, { start, end }] of elements.entries()) {
    parts.push(text.toString('utf8', from, start), String(place));
    from = end;
  }
  const parsed = ToolImportForm.safeParse(
    parse(() => parseJsonText([...parts, text.toString('utf8', from)].join(''))),
  );
  if (parsed.success) return parsed.data;
  throw invalidMembers(describeIssues(parsed.error));
}

/** @throws malformed_json, bad_request for one that holds too much */
const checkTool = (text: Buffer, range: Range) => void parse(() => readTool(text, range, checkJsonText));

/** One tool as it was sent. */
function readTool(text: Buffer, range: Range | undefined, check = (_json: string) => {}): unknown {
  if (!range) return null;
  if (range.end - range.start > LIMITS.bodyBytes)
    throw new AppError('too_large', {
      detail: `One tool of an import has at most ${LIMITS.bodyBytes} bytes.`,
    });
  const json = text.toString('utf8', range.start, range.end);
  check(json);
  return JSON.parse(json);
}

function parse<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof SyntaxError ? new AppError('malformed_json', { cause }) : cause;
  }
}
