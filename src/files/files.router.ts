import { z } from 'zod';
import { jsonList } from '../core/json.ts';
import { member, router } from '../core/trpc.ts';
import { id, page } from '../core/wire.ts';
import { FileView } from './files.schema.ts';
import { deleteFile, getFile, listFiles } from './files.service.ts';

/** All about files but their bytes, which come and go by plain routes (`doors/files.ts`). */
export const filesRouter = router({
  list: member
    .meta({
      openapi: { method: 'GET', path: '/files', tags: ['files'], summary: 'The own uploads, newest first' },
      access: 'member',
    })
    .input(z.object(page))
    .output(jsonList(FileView))
    .query(({ ctx, input }) => listFiles(ctx.scope, input)),

  get: member
    .meta({
      openapi: { method: 'GET', path: '/files/{id}', tags: ['files'], summary: 'A file, without its bytes' },
      access: 'file.read',
    })
    .input(z.object({ id: id() }))
    .output(FileView)
    .query(({ ctx, input }) => getFile(ctx.scope, input.id)),

  delete: member
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/files/{id}',
        tags: ['files'],
        summary: 'Delete a file: its owner, and administrators',
      },
      access: 'file.manage',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteFile(ctx.scope, input.id)),
});
