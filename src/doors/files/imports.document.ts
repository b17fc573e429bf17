import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { z } from 'zod';
import { ToolImport, toolImportForm } from '../../tools/import/import.schema.ts';
import { failures } from './files.document.ts';

/** The plain route of `imports.ts`, for the document. */
export const IMPORT_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/tools/import': {
    post: {
      operationId: 'toolImport.file',
      summary: 'Store the tools of an export, or say of each whether it could be',
      description:
        'Takes what `GET /tools/export` answers, here or on another server. Each tool is stored for itself: one that is refused stops no other, and its entry says why. With `dry_run` nothing is stored.',
      tags: ['tools'],
      'x-access': 'permission:workspace.tools',
      requestBody: {
        required: true,
        content: { 'application/json': { schema: toolImportForm(z.unknown()) } },
      },
      responses: {
        200: {
          description: 'Successful response',
          content: { 'application/json': { schema: ToolImport } },
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
};
