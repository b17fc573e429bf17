import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { LIMITS } from '../../core/wire.ts';
import { formatCode } from './format.service.ts';

const code = () => z.string().max(LIMITS.toolContentBytes);

export const toolFormatRouter = router({
  format: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/utils/code/format',
        tags: ['tools'],
        summary: 'Format Python code',
        description:
          'Returns the code as Black formats it; nothing is stored and the code is not run. Code that is ' +
          'not valid Python answers 400 with the line. At most 1 MiB, and stopped after 10 s.',
        errorResponses: [429, 504, 507],
      },
      access: 'member',
    })
    .input(z.object({ code: code() }))
    .output(z.object({ code: z.string() }))
    .mutation(({ ctx, input }) => formatCode(ctx.scope, input.code)),
});
