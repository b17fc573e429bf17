import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { bytes, failures } from './files.document.ts';

const picture = (operationId: string, noun: string, summary: string) => ({
  get: {
    operationId,
    summary,
    tags: [noun],
    'x-access': 'member',
    parameters: [{ in: 'path' as const, name: 'id', required: true, schema: { type: 'string' as const } }],
    responses: {
      200: {
        description: 'A picture',
        content: bytes,
      },
      ...failures({ 401: 'Unauthenticated', 500: 'Internal' }),
    },
  },
});

/** The plain routes of `pictures.ts`, for the document. */
export const PICTURE_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/channels/webhooks/{id}/profile/image': picture(
    'webhooks.picture',
    'webhooks',
    'The picture of a webhook, or the common one',
  ),
  '/users/{id}/profile/image': picture(
    'users.picture',
    'users',
    'The picture of somebody: what they uploaded, or their initials',
  ),
};
