import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { z } from 'zod';
import { FileView } from '../../files/files.schema.ts';

/** The failures of a plain route: it also waits for a turn of its caller. */
export const failures = (names: Record<number, string>) =>
  Object.fromEntries(
    Object.entries({ ...names, 429: 'RateLimited', 503: 'Unavailable' }).map(([status, name]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
  );

const binary = { schema: { type: 'string' as const, format: 'binary' } };
/** The real type is the type of the file. Generators of clients recognise bytes by the first one. */
export const bytes = { 'application/octet-stream': binary, '*/*': binary };

/** The plain routes of `files.ts`, for the document. */
export const FILE_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/files': {
    post: {
      operationId: 'files.upload',
      summary: 'Upload a file',
      description:
        'Stores the one file of the form and answers its entry, which messages and tools then name by its id. The file belongs to the caller. 413 answers a file that is larger than the configuration allows, 507 one for which no room is left, 429 too many uploads.',
      tags: ['files'],
      'x-access': 'permission:chat.file_upload',
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: z.object({
              file: z.string().meta({ format: 'binary' }),
              metadata: z.string().optional().meta({ description: 'A JSON object, kept as it is' }),
            }),
          },
        },
      },
      responses: {
        200: {
          description: 'Successful response',
          content: { 'application/json': { schema: FileView.extend({ status: z.literal(true) }) } },
        },
        ...failures({
          400: 'BadRequest',
          401: 'Unauthenticated',
          403: 'Forbidden',
          413: 'TooLarge',
          415: 'UnsupportedMediaType',
          500: 'Internal',
          503: 'Unavailable',
          507: 'InsufficientStorage',
        }),
      },
    },
  },
  '/files/{id}/process/status': {
    get: {
      operationId: 'files.processStatus',
      summary: 'Whether a file is ready, which each is; with `stream=true` as server-sent events',
      description:
        'A file is ready as soon as its upload is answered, so the status is always `completed`. Clients that wait for a later status get one event and the end of the stream.',
      tags: ['files'],
      'x-access': 'file.read',
      parameters: [
        { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
        { in: 'query', name: 'stream', schema: { type: 'boolean', default: false } },
      ],
      responses: {
        200: {
          description: 'Successful response',
          content: {
            'application/json': { schema: z.object({ status: z.literal('completed') }) },
            'text/event-stream': { schema: z.string() },
          },
        },
        ...failures({ 401: 'Unauthenticated', 403: 'Forbidden', 404: 'NotFound', 500: 'Internal' }),
      },
    },
  },
  '/files/{id}/content': {
    get: {
      operationId: 'files.content',
      summary: 'The bytes of a file, or one range of them',
      description:
        'Answers the bytes with the type and the name of the file, to its owner and to callers who may read a message that carries it. One `Range`, `If-Range` and `If-None-Match` are followed. Types that a browser could run are always sent for saving.',
      tags: ['files'],
      'x-access': 'file.read',
      parameters: [
        { in: 'path', name: 'id', required: true, schema: { type: 'string' } },
        {
          in: 'query',
          name: 'attachment',
          description: 'For saving, also what a browser could show',
          schema: { type: 'boolean', default: false },
        },
      ],
      responses: {
        200: { description: 'All bytes', content: bytes },
        206: { description: 'The range of bytes that was asked for', content: bytes },
        302: { description: 'To the bytes in the bucket, where the operator has chosen presigned downloads' },
        304: { description: 'The bytes are those that the caller has' },
        ...failures({
          400: 'BadRequest',
          401: 'Unauthenticated',
          403: 'Forbidden',
          404: 'NotFound',
          416: 'RangeUnsatisfiable',
          500: 'Internal',
        }),
      },
    },
  },
};
