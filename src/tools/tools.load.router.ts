import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { name } from '../core/wire.ts';
import { loadFromUrl } from './tools.load.service.ts';

const URL_CHARACTERS = 2048;

export const toolLoadRouter = router({
  url: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/load/url',
        tags: ['tools'],
        summary: 'The source of a tool from a code host or any other address, for administrators',
      },
      access: 'tool.manage',
    })
    .input(z.object({ url: name(URL_CHARACTERS) }))
    .output(z.object({ name: z.string(), content: z.string() }))
    .mutation(({ ctx, input }) => loadFromUrl(ctx.scope, input.url)),
});
