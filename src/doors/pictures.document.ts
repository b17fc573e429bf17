import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { failures } from './files.document.ts';

/** The plain routes of `pictures.ts`, for the document. */
export const PICTURE_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/channels/webhooks/{id}/profile/image': {
    get: {
      operationId: 'webhooks.picture',
      summary: 'The picture of a webhook, or the common one',
      tags: ['webhooks'],
      'x-access': 'member',
      parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
      responses: {
        200: {
          description: 'A picture',
          content: { 'image/*': { schema: { type: 'string', format: 'binary' } } },
        },
        ...failures({ 401: 'Unauthenticated', 500: 'Internal' }),
      },
    },
  },
};
