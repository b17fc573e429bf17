import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { administrator, member, router } from '../core/trpc.ts';
import { label, page } from '../core/wire.ts';
import { FileDetail, FilePage, FileView } from './files.schema.ts';
import {
  countFiles,
  deleteAllFiles,
  deleteFile,
  knownId,
  pageFiles,
  renameFile,
  searchFiles,
} from './files.service.ts';
import { getFileDetail, getText } from './files.text.ts';
import { Filename } from './files.upload.ts';

const tags = ['files'];
/** A word that is no id answers 404, as an unknown id does. */
const fileId = label().describe('The id of a file');
const byId = z.object({ id: fileId });
/** `filename` may hold `*` for any characters and `?` for one. */
const search = z.object({ ...page, filename: label().default('*') });

/** All about files but their bytes, which come and go by plain routes (`doors/files.ts`). */
export const filesRouter = router({
  list: member
    .meta({
      openapi: { method: 'GET', path: '/files', tags, summary: 'The own uploads, newest first' },
      access: 'member',
    })
    .input(
      z.object({
        ...page,
        page: z
          .int()
          .min(1)
          .max(1_000_000)
          .optional()
          .describe('The number of a page of `limit` files; `skip` does not count then'),
      }),
    )
    .output(FilePage)
    .query(({ ctx, input: { page: number, skip, limit } }) =>
      pageFiles(ctx.scope, { skip: number === undefined ? skip : (number - 1) * limit, limit }),
    ),

  search: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files/search',
        tags,
        summary: 'The own uploads of a name, which may hold * and ?; 404 when there is none',
        errorResponses: [404],
      },
      access: 'member',
    })
    .input(search)
    .output(z.array(FileView))
    .query(async ({ ctx, input }) => {
      const files = await searchFiles(ctx.scope, input);
      if (files.length > 0) return files;
      throw new AppError('not_found', { detail: 'No files match the pattern.' });
    }),

  searchOwn: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files/user/search',
        tags,
        summary: 'The same, but an empty list when there is none',
      },
      access: 'member',
    })
    .input(search)
    .output(z.array(FileView))
    .query(({ ctx, input }) => searchFiles(ctx.scope, input)),

  count: member
    .meta({
      openapi: { method: 'GET', path: '/files/count', tags, summary: 'How many files the caller has' },
      access: 'member',
    })
    .output(z.int())
    .query(({ ctx }) => countFiles(ctx.scope)),

  countOwn: member
    .meta({
      openapi: { method: 'GET', path: '/files/user/count', tags, summary: 'How many files the caller has' },
      access: 'member',
    })
    .output(z.int())
    .query(({ ctx }) => countFiles(ctx.scope)),

  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files/{id}',
        tags,
        summary: 'A file, without its bytes; a text file with its text',
      },
      access: 'file.read',
    })
    .input(byId)
    .output(FileDetail)
    .query(({ ctx, input }) => getFileDetail(ctx.scope, knownId(input.id))),

  text: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files/{id}/data/content',
        tags,
        summary: 'The text of a text file; empty for others',
      },
      access: 'file.read',
    })
    .input(byId)
    .output(z.object({ content: z.string() }))
    .query(({ ctx, input }) => getText(ctx.scope, knownId(input.id))),

  rename: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/files/{id}/rename',
        tags,
        summary: 'Rename a file: its owner, and administrators',
      },
      access: 'file.manage',
    })
    .input(z.object({ id: fileId, filename: Filename }))
    .output(FileView)
    .mutation(({ ctx, input }) => renameFile(ctx.scope, knownId(input.id), input.filename)),

  deleteAll: administrator
    .meta({
      openapi: { method: 'DELETE', path: '/files/all', tags, summary: 'Delete all files of all people' },
      access: 'administrator',
    })
    .output(z.object({ message: z.string() }))
    .mutation(async ({ ctx }) => {
      await deleteAllFiles(ctx.scope);
      return { message: 'All files deleted successfully' };
    }),

  delete: member
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/files/{id}',
        tags,
        summary: 'Delete a file: its owner, and administrators',
      },
      access: 'file.manage',
    })
    .input(byId)
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteFile(ctx.scope, knownId(input.id))),
});
