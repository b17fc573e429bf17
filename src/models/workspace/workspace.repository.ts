import { CALLER, type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, type Statement, statement } from '../../database/sql.ts';
import { readableOfAll } from '../models.policy.ts';
import { VIEW, VIEWED } from '../models.repository.ts';
import type { ModelView } from '../models.schema.ts';
import type { ModelOrder, ModelSearch } from './workspace.schema.ts';

/** SQL for the tags of the record `t`, as rows `tag`. */
const TAGS_OF = `json_array_elements(case json_typeof(t.meta -> 'tags') when 'array' then t.meta -> 'tags' else '[]'::json end) tag`;

interface PageParams extends CallerParams {
  pattern: string | null;
  tag: string | null;
  view: string | null;
  skip: number;
  limit: number;
}
type PageRow = ModelView & { total: number };

const ORDERS: Record<ModelOrder, string> = {
  name: 'lower(t.name)',
  created_at: 't.created_at',
  updated_at: 't.updated_at',
};
type Direction = 'asc' | 'desc';

const page = (order: ModelOrder, direction: Direction): Statement<PageRow, PageParams> =>
  statement(
    `model.page_${order}_${direction}`,
    `with found as (select t.* from model t where t.base_model_id is not null and ${readableOfAll(CALLER)}
         and (:view::text is null or (t.user_id = ${CALLER.id}) = (:view = 'created'))
         and (:pattern::text is null or t.name ilike :pattern or t.id ilike :pattern or t.base_model_id ilike :pattern)
         and (:tag::text is null or exists (select from ${TAGS_OF} where tag ->> 'name' = :tag))),
       turned as (select t.* from found t order by ${ORDERS[order]} ${direction}, t.id offset :skip limit :limit)
     select n.total, x.* from (select count(*)::int as total from found) n
       left join lateral (select ${VIEW} from turned t ${VIEWED} order by ${ORDERS[order]} ${direction}, t.id) x on true`,
  );

const PAGES = {
  name: { asc: page('name', 'asc'), desc: page('name', 'desc') },
  created_at: { asc: page('created_at', 'asc'), desc: page('created_at', 'desc') },
  updated_at: { asc: page('updated_at', 'asc'), desc: page('updated_at', 'desc') },
};

/** A page of the records with a base that the caller may read, and how many these are. */
export async function pageModels(
  sql: Sql,
  caller: Caller,
  {
    order_by,
    direction,
    query,
    tag,
    view_option,
    skip,
    limit,
  }: ModelSearch & { skip: number; limit: number },
): Promise<{ items: ModelView[]; total: number }> {
  const rows = await sql.rows(PAGES[order_by][direction], {
    ...callerOf(caller),
    pattern: query ? `%${query.replaceAll(/[\\%_]/g, '\\$&')}%` : null,
    tag: tag || null,
    view: view_option || null,
    skip,
    limit,
  });
  const items = rows.filter(({ id }) => id !== null).map(({ total: _, ...view }) => view);
  return { items, total: rows[0]?.total ?? 0 };
}

const TAGS = statement<{ name: string }, CallerParams & { isBase: boolean }>(
  'model.tags',
  `select distinct tag ->> 'name' as name from model t cross join lateral ${TAGS_OF}
    where (t.base_model_id is null) = :isBase and coalesce(tag ->> 'name', '') <> '' and ${readableOfAll(CALLER)} order by 1`,
);

/** The tags of the records that the caller may read, of those with a base or of those without. */
export async function listTags(sql: Sql, caller: Caller, of: { isBase: boolean }): Promise<string[]> {
  const rows = await sql.rows(TAGS, { ...callerOf(caller), ...of });
  return rows.map(({ name }) => name);
}

const ALL = statement<ModelView, CallerParams>(
  'model.all',
  `select ${VIEW} from model t ${VIEWED} where ${readableOfAll(CALLER)} order by t.id`,
);

export const listAll = (sql: Sql, caller: Caller): Promise<ModelView[]> => sql.rows(ALL, callerOf(caller));
