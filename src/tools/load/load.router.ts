import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { name } from '../../core/wire.ts';
import { loadFromUrl } from './load.service.ts';

const URL_CHARACTERS = 2048;

export const toolLoadRouter = router({
  url: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/load/url',
        tags: ['tools'],
        summary: 'Load the source of a tool from an address',
        description:
          'Fetches the source and returns it with a suggested name; nothing is stored or run. The caller ' +
          'must be an administrator, else the answer is 401 `tool_forbidden`. Addresses of files and ' +
          'folders on known code hosts are resolved; a folder must hold `main.py`, `tool.py`, `tools.py`, ' +
          'or exactly one Python file. Only public http(s) addresses are called, for 10 s in all, and the ' +
          'source may have 1 MiB. 502 means that the other server failed or was too slow.',
        errorResponses: [502, 507],
      },
      access: 'tool.manage',
    })
    .input(z.object({ url: name(URL_CHARACTERS).meta({ pattern: '^https?://' }) }))
    .output(z.object({ name: z.string(), content: z.string() }))
    .mutation(({ ctx, input }) => loadFromUrl(ctx.scope, input.url)),
});
