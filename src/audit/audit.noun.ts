import { defineNoun } from '../noun.ts';
import { AuditEntry } from './audit.entity.ts';
import { keepAuditFor } from './audit.retention.ts';
import { auditRouter } from './audit.router.ts';

export const audit = defineNoun({
  name: 'audit',
  routers: { audit: auditRouter },
  entities: [AuditEntry],
  start: ({ env, sql, warn }) =>
    keepAuditFor(env.AUDIT_RETENTION_DAYS, { sql, onError: warn('Old audit entries could not be removed.') }),
  onAccountDeleted: 'rows stay',
});
