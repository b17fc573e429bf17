import { defineNoun } from '../core/noun.ts';
import { deleteGrantsTo } from './access.deletion.repository.ts';
import { AccessGrant } from './access.entity.ts';
import { errors } from './access.errors.ts';
import { accessRouter } from './access.router.ts';
import { permissionsRouter } from './permissions.router.ts';
import { previewRouter } from './preview.router.ts';

export const access = defineNoun({
  name: 'access',
  errors,
  routers: { access: accessRouter, permissions: permissionsRouter, preview: previewRouter },
  entities: [AccessGrant],
  onAccountDeleted: deleteGrantsTo,
});
