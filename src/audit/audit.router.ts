import { z } from 'zod';
import { administrator, router } from '../core/trpc/trpc.ts';
import { AuditView, auditQuery } from './audit.schema.ts';
import { listAudit } from './audit.service.ts';

export const auditRouter = router({
  list: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/audit',
        tags: ['audit'],
        summary: 'List the entries of the audit log',
        description:
          'Newest first. All filters that are sent must match; `after` includes its second and `before` ' +
          'excludes it. `next` is the `cursor` of the next page, null on the last one. Secrets are masked. ' +
          'Entries cannot be changed; they are deleted after `AUDIT_RETENTION_DAYS`, 365 days unless ' +
          'configured.',
      },
      access: 'administrator',
    })
    .input(auditQuery)
    .output(z.object({ entries: z.array(AuditView), next: z.string().nullable() }))
    .query(({ ctx, input }) => listAudit(ctx.scope, input)),
});
