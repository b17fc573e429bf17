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
import { REST_PREFIX, signalOf } from '../rest/rest.ts';

/** Of the whole text: an export of another server holds the sources and specifications of all its tools. */
const MAX_BYTES = 64 * 1024 ** 2;
/** Of the text outside of the tools. */
const MAX_OUTSIDE_BYTES = 64 * 1024;
/** Of all lists. The schema limits the number of tools further, with its own message. */
const MAX_ELEMENTS = 10_000;

/**
 * The import of tools takes a larger body than procedures, so it has a plain route: the text is kept as bytes, and its tools are parsed
 * one at a time. A process reads one text that exceeds the limit of other bodies at a time.
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
    // Size 0: the body is not read while the call waits for its turn.
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
        // A tool may have 4 MiB, so other callers get a turn of the event loop.
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
    // The handler reads the body after it has admitted the caller.
    inner.addContentTypeParser('application/json', (_request, body, done) => done(null, body));
    inner.post(
      `${REST_PREFIX}/tools/import`,
      { bodyLimit: MAX_BYTES, config: { streamsBody: true } },
      answer,
    );
  });
}

/** @throws too_large, bad_request */
async function readText({ headers, body }: FastifyRequest): Promise<{ text: Buffer; elements: Range[] }> {
  const tooLarge = new AppError('too_large', { detail: `An import has at most ${MAX_BYTES} bytes.` });
  if (Number(headers['content-length']) > MAX_BYTES) throw tooLarge;
  // A missing body is malformed JSON.
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

/** Parses the text around the tools, where its number stands for each tool. @throws malformed_json, validation, bad_request */
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

/** @throws malformed_json; bad_request for a tool that exceeds the limits of JSON */
const checkTool = (text: Buffer, range: Range) => void parse(() => readTool(text, range, checkJsonText));

/** Parses one tool. */
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
