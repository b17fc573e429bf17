import type { Scope } from '../../core/scope.ts';
import { type ModelView, withPicture } from '../models.schema.ts';
import * as repository from './workspace.repository.ts';
import type { ModelSearch } from './workspace.schema.ts';

/** As in Open WebUI. */
const PAGE_ENTRIES = 30;

/** A page of the models with a base that the caller may use or change. */
export async function pageModels(
  { sql, actor }: Scope,
  { page, ...search }: ModelSearch & { page: number },
): Promise<{ items: ModelView[]; total: number }> {
  const limit = PAGE_ENTRIES;
  const found = await repository.pageModels(sql, actor, { ...search, skip: (page - 1) * limit, limit });
  return { ...found, items: found.items.map(withPicture) };
}

/** All records, for administrators. */
export const listAll = async ({ sql, actor }: Scope): Promise<ModelView[]> =>
  (await repository.listAll(sql, actor)).map(withPicture);

export const listTags = ({ sql, actor }: Scope, of: { isBase: boolean }): Promise<string[]> =>
  repository.listTags(sql, actor, of);
