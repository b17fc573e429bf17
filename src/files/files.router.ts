import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { administrator, member, router } from '../core/trpc/trpc.ts';
import { label, page, text } from '../core/wire.ts';
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
import { getFileDetail, getText, MAX_TEXT_BYTES, updateText } from './files.text.ts';
import { Filename } from './files.upload.ts';

const tags = ['files'];
/** A text that is not an id answers 404, as an unknown id does. */
const fileId = label().describe('The id of a file');
const byId = z.object({ id: fileId });
/** `filename` may hold `*` for any characters and `?` for one. */
const search = z.object({ ...page, filename: label().default('*') });

/** Procedures for files, except their bytes, which use plain routes (`doors/files/files.ts`). */
export const filesRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files',
        tags,
        summary: "List the caller's own files",
        description:
          'Newest first, with the number of all files as `total`. Files of other accounts are not listed, ' +
          'even if a message that the caller can read carries them.',
      },
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
        summary: "Search the caller's own files by name, 404 if none matches",
        description:
          '`filename` must match the whole name, ignoring case; `*` stands for any characters and `?` for ' +
          'one. Newest first. If no file matches, or `skip` passes over all matches, the answer is 404.',
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
        summary: "Search the caller's own files by name",
        description: 'As `GET /files/search`, but the answer is an empty list if no file matches.',
      },
      access: 'member',
    })
    .input(search)
    .output(z.array(FileView))
    .query(({ ctx, input }) => searchFiles(ctx.scope, input)),

  count: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files/count',
        tags,
        summary: "Count the caller's own files",
        description: 'Returns the number alone, the same as `total` of `GET /files`.',
      },
      access: 'member',
    })
    .output(z.int())
    .query(({ ctx }) => countFiles(ctx.scope)),

  countOwn: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/files/user/count',
        tags,
        summary: "Count the caller's own files, by its other path",
        description: 'The same as `GET /files/count`, for clients that use this path.',
      },
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
        summary: 'Get a file without its bytes',
        description:
          'For the owner, and for accounts that can read a message that carries the file; every other ' +
          'caller gets 404, administrators included. A text file of up to 1 MiB has its text as ' +
          '`data.content`; `GET /files/{id}/content` has the bytes. `meta.content_type` is detected from ' +
          'the bytes.',
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
        summary: 'Get the text of a file',
        description:
          'For the same callers as `GET /files/{id}`. `content` is empty for a file that is not text. A ' +
          'text file of more than 1 MiB answers 400: download it with `GET /files/{id}/content`.',
      },
      access: 'file.read',
    })
    .input(byId)
    .output(z.object({ content: z.string() }))
    .query(({ ctx, input }) => getText(ctx.scope, knownId(input.id))),

  updateText: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/files/{id}/data/content/update',
        tags,
        summary: 'Replace the text of a file',
        description:
          'For the owner and for administrators; a caller who may only read the file gets 403. Readers and ' +
          'tools get this text from then on, whatever the kind of the file. The bytes, which `GET ' +
          '/files/{id}/content` answers, stay as they are. The text has at most 1 MiB and is not blank.',
        errorResponses: [507],
      },
      access: 'file.manage',
    })
    .input(
      z.object({
        id: fileId,
        content: text(MAX_TEXT_BYTES).regex(/\S/, 'must not be empty or white space alone'),
      }),
    )
    .output(z.object({ content: z.string() }))
    .mutation(({ ctx, input }) => updateText(ctx.scope, knownId(input.id), input.content)),

  rename: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/files/{id}/rename',
        tags,
        summary: 'Rename a file',
        description:
          'For the owner and for administrators; a caller who may only read the file gets 403. Only the ' +
          'part of `filename` after the last slash or backslash is kept. The id, the bytes and the content ' +
          'type stay. A name that another file has is allowed.',
        errorResponses: [507],
      },
      access: 'file.manage',
    })
    .input(z.object({ id: fileId, filename: Filename }))
    .output(FileView)
    .mutation(({ ctx, input }) => renameFile(ctx.scope, knownId(input.id), input.filename)),

  deleteAll: administrator
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/files/all',
        tags,
        summary: 'Delete all files of all accounts',
        description:
          'Removes every file with its bytes for good. Messages keep the items that name the files, which ' +
          'then answer 404.',
      },
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
        summary: 'Delete a file',
        description:
          'For the owner and for administrators; a caller who may only read the file gets 403. Removes the ' +
          'file with its bytes and returns true. Messages keep the item that names it. A second call ' +
          'answers 404.',
      },
      access: 'file.manage',
    })
    .input(byId)
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteFile(ctx.scope, knownId(input.id))),
});
