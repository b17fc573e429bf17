import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { LIMITS } from '../core/wire.ts';
import { formatCode } from './tools.format.service.ts';

const code = () => z.string().max(LIMITS.toolContentBytes);

export const toolFormatRouter = router({
  format: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/utils/code/format',
        tags: ['tools'],
        summary: 'Format Python code',
      },
      access: 'member',
    })
    .input(z.object({ code: code() }))
    .output(z.object({ code: z.string() }))
    .mutation(({ ctx, input }) => formatCode(ctx.scope, input.code)),
});
