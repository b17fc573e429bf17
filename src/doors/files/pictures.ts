import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cutPath } from '../../core/access.ts';
import type { ExternalPicture, Picture } from '../../core/pictures.ts';
import type { Parts, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import { id } from '../../core/wire.ts';
import { modelPicture } from '../../models/models.pictures.ts';
import { modelId } from '../../models/models.schema.ts';
import { userPicture } from '../../users/users.picture.ts';
import { webhookPicture } from '../../webhooks/webhooks.service.ts';
import { buildHttpContext } from '../http/context.ts';
import { REST_PREFIX } from '../rest/rest.ts';

/** The picture of accounts and things without one. */
const COMMON: Picture = {
  type: 'image/svg+xml',
  bytes: Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#6b7280"/>' +
      '<circle cx="32" cy="25" r="11" fill="#fff"/><path d="M12 58a20 20 0 0 1 40 0z" fill="#fff"/></svg>',
  ),
};

type FindPicture = (scope: Scope, id: string) => Promise<Picture | ExternalPicture | null>;

/** The nouns with pictures. */
const PICTURES: [noun: string, find: FindPicture][] = [
  ['channels/webhooks', webhookPicture],
  ['users', userPicture],
];

/** Plain routes for bytes. Callers are admitted, and pictures are found, by the same code as for procedures. */
export function mountPictures(app: FastifyInstance, parts: Parts): void {
  for (const [noun, find] of PICTURES)
    app.get(`${REST_PREFIX}/${noun}/:id/profile/image`, servePicture(parts, ofRow(noun, find)));
  app.get(`${REST_PREFIX}/models/model/profile/image`, servePicture(parts, OF_MODEL));
}

/** Where a route reads the id, and the path that an API key must reach. */
interface Route {
  Input: z.ZodType<{ id: string }>;
  members: (request: FastifyRequest) => unknown;
  path: (id: string) => string;
  find: FindPicture;
}

const ofRow = (noun: string, find: FindPicture): Route => ({
  Input: z.object({ id: id() }),
  members: ({ params }) => params,
  path: (ownerId) => `/api/${noun}/${ownerId}/profile/image`,
  find,
});

/** Ids of models have slashes, so they come in the query. */
const OF_MODEL: Route = {
  Input: z.object({ id: modelId() }),
  members: ({ query }) => query,
  path: () => '/api/models/model/profile/image',
  find: modelPicture,
};

function servePicture(parts: Parts, { Input, members, path, find }: Route) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const context = buildHttpContext(parts, request, reply);
    const parsed = Input.safeParse(members(request));
    const call = {
      level: 'member',
      type: 'query',
      signal: undefined,
      reach: () => [cutPath(path(parsed.data?.id ?? ''))],
    } as const;
    const picture = await answerCall(
      context,
      call,
      async (scope: Scope) => (parsed.success && (await find(scope, parsed.data.id))) || COMMON,
    );
    reply.header('cache-control', 'private, no-cache');
    if ('address' in picture) {
      return reply.header('referrer-policy', 'no-referrer').redirect(picture.address, 302);
    }
    const { type, bytes } = picture;
    const [, format = ''] = type.split(/[/+]/);
    // A picture that is opened as a page runs no script.
    return reply
      .type(type)
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('content-disposition', `inline; filename="picture.${format}"`)
      .send(bytes);
  };
}
