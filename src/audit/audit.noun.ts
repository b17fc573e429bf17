import { defineNoun } from '../core/noun.ts';
import { AuditEntry } from './audit.entity.ts';
import { auditRouter } from './audit.router.ts';

export const audit = defineNoun({
  name: 'audit',
  routers: { audit: auditRouter },
  entities: [AuditEntry],
  onAccountDeleted: 'rows stay',
});
