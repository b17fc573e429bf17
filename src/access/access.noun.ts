import { defineNoun } from '../noun.ts';
import { deleteGrantsTo } from './access.deletion.repository.ts';
import { AccessGrant } from './access.entity.ts';
import { errors } from './access.errors.ts';
import { accessRouter } from './access.router.ts';
import { permissionsRouter } from './permissions.router.ts';
import { previewRouter } from './preview.router.ts';
import { createQuotas } from './quotas.ts';

export const access = defineNoun({
  name: 'access',
  errors,
  routers: { access: accessRouter, permissions: permissionsRouter, preview: previewRouter },
  entities: [AccessGrant],
  start: ({ sql, bus, configs, shared }) => ({
    parts: { quotas: createQuotas({ sql, bus, configs, shared }) },
  }),
  onAccountDeleted: deleteGrantsTo,
});
