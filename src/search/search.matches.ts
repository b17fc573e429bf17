import { isFrom } from '../messages/messages.author.ts';

/*
 * How a search finds its page, newest first, without a look at everything that matches (docs/decisions/search.md).
 * `readable` are the channels that are searched.
 */
export interface MatchParams {
  q: string;
  /** Whether the last word of the query may be the beginning of one. */
  isOpen: boolean;
  channelId: string | null;
  /** Id of the author. */
  from: string | null;
  /** Nanoseconds. */
  before: number | null;
  after: number | null;
  limit: number;
  skip: number;
  /** How many messages a walk looks at. */
  walk: number;
}

/*
 * PostgreSQL's text of a query ends with the quote of its last word, unless that stands in a group; then the word may be made a
 * beginning. Nothing that was sent gets into that text but as a word in quotes of PostgreSQL's own.
 */
const wordsOf = (q: string) => `websearch_to_tsquery('simple', ${q})`;
export const queryOf = (q: string) =>
  `case when :isOpen and right(${wordsOf(q)}::text, 1) = '''' then (${wordsOf(q)}::text || ':*')::tsquery else ${wordsOf(q)} end`;
const WORDS = wordsOf(':q');
/** The index can find what must be there; without that, every message would have to be looked at. */
export const IS_BOUND = `numnode(${WORDS}) > 0 and querytree(${WORDS}) <> 'T'`;

const IN_TIME = `(:channelId::uuid is null or m.channel_id = :channelId)
  and (:before::bigint is null or m.created_at < :before) and (:after::bigint is null or m.created_at > :after)`;
const HAS_WORDS = `to_tsvector('simple', m.content) @@ (${queryOf(':q')}) and ${IS_BOUND} and m.deleted_at is null`;
const IS_READABLE = '(m.channel_id in (select id from readable)) is true';
const IS_FROM = `(:from::uuid is null or ${isFrom('m', ':from')})`;
const IS_FOUND = `${HAS_WORDS} and ${IS_READABLE} and ${IS_FROM}`;

/** How many of the newest messages are looked at to learn how frequent the words are, and how many at most to find the page. */
const SAMPLE = 500;
const WALK = 20_000;
/** As many for pages further down, up to here. */
const LONGEST_WALK = 100_000;
/** Text that is taken apart into words: some 15 MB of it take a second. */
const SAMPLE_BYTES = 2 ** 20;
const WALK_BYTES = 8 * 2 ** 20;

export const walkLimit = (skip: number): number => Math.min(WALK + skip, LONGEST_WALK);

/** SQL for the newest messages. @param many SQL, at most `most`, which tells the planner to expect few */
const newest = (many: string | number, most: string | number, bytes: number) => `(
  select * from (
    select m.*, sum(octet_length(m.content)) over (order by m.created_at desc, m.id desc) as bytes from (
      select m.* from (
        select m.channel_id, m.id, m.created_at, m.content, m.user_id, m.author_type, m.author_id, m.deleted_at
          from message m where ${IN_TIME} order by m.created_at desc, m.id desc limit ${most}
      ) m limit ${many}
    ) m
  ) m where m.bytes <= ${bytes}
)`;

const NEEDED = '(:limit::bigint + :skip::bigint)';
const NEWEST_FIRST = 'order by m.created_at desc, m.id desc';

/**
 * SQL for the page as `found` (channel_id, id). What is frequent among the newest messages is found among them, in the order in
 * which it is wanted. Of what is not, or turns out to be no more frequent further back, either all that match are found by the
 * index of words and sorted; or, where the caller reads so little that fewer messages are theirs than match, each of their channels
 * is walked until it has given a page. `+ 0` keeps the planner from walking all channels, too, in the hope of an early end, and
 * `offset 0` from using the index of words for each channel.
 */
export const FOUND = `sample as materialized (
    select count(*) filter (where m.has_words and ${IS_READABLE} and ${IS_FROM}) as hits,
           count(*) filter (where ${IS_READABLE}) < count(*) filter (where m.has_words) as reads_little
      from (select m.channel_id, m.user_id, m.author_type, m.author_id, ${HAS_WORDS} as has_words
              from ${newest(SAMPLE, SAMPLE, SAMPLE_BYTES)} m offset 0) m
  ), newest as materialized (
    select m.channel_id, m.id, m.created_at
      from ${newest(
        `(select case when hits * :walk::bigint >= 2 * ${SAMPLE} * ${NEEDED} then 2 * ${SAMPLE} * ${NEEDED} / hits else 0 end from sample)`,
        ':walk::bigint',
        WALK_BYTES,
      )} m where ${IS_FOUND} ${NEWEST_FIRST} limit ${NEEDED}
  ), walked as materialized (
    select count(*) = ${NEEDED} as is_enough, (select reads_little from sample) as reads_little from newest
  ), found as materialized (
    select m.channel_id, m.id from (
      select * from newest where (select is_enough from walked)
      union all
      select m.* from readable c cross join lateral (
        select m.channel_id, m.id, m.created_at from (
          select * from message m where m.channel_id = c.id and ${IN_TIME} order by m.created_at desc offset 0
        ) m where ${HAS_WORDS} and ${IS_FROM} limit ${NEEDED}
      ) m where (select not is_enough and reads_little from walked)
      union all
      (select m.channel_id, m.id, m.created_at from message m
        where ${IN_TIME} and ${IS_FOUND} and (select not is_enough and not reads_little from walked)
        order by m.created_at + 0 desc, m.id desc limit ${NEEDED})
    ) m ${NEWEST_FIRST} limit :limit::bigint offset :skip::bigint
  )`;
