import { z } from 'zod';
import { administrator, router } from '../core/trpc.ts';
import { AuditView, auditQuery } from './audit.schema.ts';
import { listAudit } from './audit.service.ts';

export const auditRouter = router({
  list: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/audit',
        tags: ['audit'],
        summary: 'Who did what, newest first',
      },
      access: 'administrator',
    })
    .input(auditQuery)
    .output(z.object({ entries: z.array(AuditView), next: z.string().nullable() }))
    .query(({ ctx, input }) => listAudit(ctx.scope, input)),
});
