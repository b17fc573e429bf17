import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { bytes, failures } from './files.document.ts';

const picture = (
  operationId: string,
  noun: string,
  summary: string,
  description: string,
  place: 'path' | 'query' = 'path',
) => ({
  get: {
    operationId,
    summary,
    description,
    tags: [noun],
    'x-access': 'member',
    parameters: [{ in: place, name: 'id', required: true, schema: { type: 'string' as const } }],
    responses: {
      200: {
        description: 'A picture',
        content: bytes,
      },
      302: { description: 'To a picture of another server, where a setting allows that' },
      ...failures({ 401: 'Unauthenticated', 403: 'Forbidden', 500: 'Internal' }),
    },
  },
});

/** The plain routes of `pictures.ts`, for the document. */
export const PICTURE_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/channels/webhooks/{id}/profile/image': picture(
    'webhooks.picture',
    'webhooks',
    'The picture of a webhook, or the common one',
    'Answers bytes for `<img>`. An id that no webhook has is answered with the common picture, not with 404.',
  ),
  '/models/model/profile/image': picture(
    'models.picture',
    'models',
    'The picture of a model, or the common one',
    'Answers bytes for `<img>`. An id of no model, and of one that the caller may not read, is answered with the common ' +
      'picture, not with 404.',
    'query',
  ),
  '/users/{id}/profile/image': picture(
    'users.picture',
    'users',
    'The picture of an account: what was uploaded, or its initials',
    'Answers bytes for `<img>`. An id that no account has is answered with a common picture, not with 404.',
  ),
};
