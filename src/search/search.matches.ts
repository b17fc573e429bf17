import { isFrom } from '../messages/messages.author.ts';

/*
 * How a search finds its page, newest first, without reading all messages that match
 * (docs/decisions/search.md). `readable` are the searched channels.
 */
export interface MatchParams {
  q: string;
  /** Whether the last word of the query also matches longer words that begin with it. */
  isOpen: boolean;
  channelId: string | null;
  /** Id of the author. */
  from: string | null;
  /** Nanoseconds. */
  before: number | null;
  after: number | null;
  limit: number;
  skip: number;
  /** The maximum of messages that a walk reads. */
  walk: number;
}

/*
 * PostgreSQL's text of a query ends with the quote of its last word, unless the word is in a group; then the
 * word can be made a prefix. User input gets into that text only as words that PostgreSQL has quoted.
 */
const wordsOf = (q: string) => `websearch_to_tsquery('simple', ${q})`;
export const queryOf = (q: string) =>
  `case when :isOpen and right(${wordsOf(q)}::text, 1) = '''' then (${wordsOf(q)}::text || ':*')::tsquery else ${wordsOf(q)} end`;
const WORDS = wordsOf(':q');
/**
 * Whether the query has a word that must occur. Otherwise the index cannot help, and every message would be
 * read.
 */
export const IS_BOUND = `numnode(${WORDS}) > 0 and querytree(${WORDS}) <> 'T'`;

const IN_TIME = `(:channelId::uuid is null or m.channel_id = :channelId)
  and (:before::bigint is null or m.created_at < :before) and (:after::bigint is null or m.created_at > :after)`;
const HAS_WORDS = `to_tsvector('simple', m.content) @@ (${queryOf(':q')}) and ${IS_BOUND} and m.deleted_at is null`;
const IS_READABLE = '(m.channel_id in (select id from readable)) is true';
const IS_FROM = `(:from::uuid is null or ${isFrom('m', ':from')})`;
const IS_FOUND = `${HAS_WORDS} and ${IS_READABLE} and ${IS_FROM}`;

/**
 * How many of the newest messages are read to estimate the frequency of the words, and the maximum to find
 * the page.
 */
const SAMPLE = 500;
const WALK = 20_000;
/** The maximum for later pages. */
const LONGEST_WALK = 100_000;
/** Limits of the text that is split into words: about 15 MB take a second. */
const SAMPLE_BYTES = 2 ** 20;
const WALK_BYTES = 8 * 2 ** 20;

export const walkLimit = (skip: number): number => Math.min(WALK + skip, LONGEST_WALK);

/**
 * SQL for the newest messages. @param many SQL for their number, at most `most`, so that the planner expects
 * few rows
 */
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
 * SQL for the page as `found` (channel_id, id). There are three ways:
 * - Words that are frequent among the newest messages are found by walking these, newest first.
 * - If that does not give enough, the index of words finds all matches, which are then sorted.
 * - If it does not, and the caller may read fewer of the newest messages than match, each readable channel is
 *   walked instead, until it has given a page.
 *
 * `+ 0` keeps the planner from also walking all channels in the hope of an early end, and `offset 0` from
 * using the index of words for each channel.
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
