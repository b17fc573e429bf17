import { randomUUID } from 'node:crypto';
import { READABLE_OF_ALL } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Database, type NoParams, plannedAnew, statement } from '../database/sql.ts';
import { readTransaction } from '../database/transaction.ts';
import type { Page } from '../messages/messages.lists.repository.ts';
import {
  JOINS,
  LISTED,
  type MessageRow,
  messageOf,
  withinBudget,
} from '../messages/messages.view.repository.ts';
import { FOUND, IS_BOUND, type MatchParams, queryOf, walkLimit } from './search.matches.ts';
import type { FoundMessage, Fragment } from './search.schema.ts';

export interface Search extends Page {
  /** Words, "phrases", `or` and -excluded, as in web searches. */
  q: string;
  /** Whether the last word also matches longer words that begin with it. */
  isOpen: boolean;
  channel_id: string | null;
  /** Id of the author: a person, or a webhook. */
  from: string | null;
  /** Nanoseconds. */
  before: number | null;
  after: number | null;
}

/** A row of the result: `id` is null in the one row of an empty result. */
interface SearchRow extends MessageRow {
  /** Whether the query has a word that must occur. */
  is_bound: boolean;
  can_search: boolean;
  channel_name: string;
  channel_type: string | null;
  /** The fragments, with the marks of this call. */
  marked: string;
}

/*
 * To find fragments, PostgreSQL takes time proportional to the square of the number of matches: seconds for a
 * message that repeats the word. So fragments are searched only near the first word (`leadWord`), by the
 * first words (`leadWords`).
 */
const MARKED_WORDS = 16;
const MARKED_CHARACTERS = 1000;
const LEAD_CHARACTERS = 200;
const MARKED = `case when length(m.content) <= ${MARKED_CHARACTERS} then m.content else
  substr(m.content, greatest(1, strpos(lower(m.content), :leadWord) - ${LEAD_CHARACTERS}), ${MARKED_CHARACTERS}) end`;

/*
 * One statement checks access and searches; `search.matches.ts` describes how. The marks are new for each
 * call (`marks`), so they never occur in a message.
 */
const SEARCH = plannedAnew<
  SearchRow,
  CallerParams & MatchParams & { marks: string; leadWords: string; leadWord: string }
>(
  `with readable as materialized (
     select c.id, c.name, c.type from channel c where (:channelId::uuid is null or c.id = :channelId) and ${READABLE_OF_ALL}
   ), ${FOUND}
   select asked.*, hit.*
     from (select ${IS_BOUND} as is_bound, exists (select from readable) as can_search) asked
     left join (
       select ${LISTED}, c.name as channel_name, c.type as channel_type,
              ts_headline('simple', ${MARKED}, ${queryOf(':leadWords')}, :marks) as marked
         from (${withinBudget('select m.* from found join message m using (channel_id, id)', 'created_at')}) m
         join readable c on c.id = m.channel_id ${JOINS}
     ) hit on true
    order by hit.created_at desc, hit.id desc`,
);

/** Callers do not wait longer, and the server has other work. */
const PATIENCE_MS = 5000;
/** The planner does not know that splitting a message into words costs more than an index lookup. */
const SETTINGS = statement<never, NoParams>(
  'message.search_settings',
  `select set_config('statement_timeout', '${PATIENCE_MS}', true), set_config('enable_seqscan', 'off', true)`,
);

export interface SearchResult {
  isBound: boolean;
  /** Whether there is a channel to search. */
  canRead: boolean;
  found: FoundMessage[];
}

/** The messages that match, newest first, in the channels that the caller may read. */
export async function searchMessages(sql: Database, caller: Caller, search: Search): Promise<SearchResult> {
  const { q, isOpen, channel_id, from, before, after, limit, skip } = search;
  const marks = makeMarks();
  const rows = await readTransaction({ sql }, async (tx) => {
    await tx.rows(SETTINGS);
    return tx.rows(SEARCH, {
      ...callerOf(caller),
      q,
      isOpen,
      channelId: channel_id,
      from,
      before,
      after,
      limit,
      skip,
      marks: marks.options,
      leadWords: firstWords(q),
      leadWord: firstWord(q),
      walk: walkLimit(skip),
    });
  });
  const [first] = rows;
  if (!first) throw new Error('A search answers with a row.');
  const hits = first.id === null ? [] : rows;
  return {
    isBound: first.is_bound,
    canRead: first.can_search,
    found: hits.map((row) => ({
      ...messageOf(row),
      channel: { id: row.channel_id, name: row.channel_name, type: row.channel_type },
      fragments: marks.read(row.marked),
    })),
  };
}

/** The query up to its 16th word. */
function firstWords(q: string): string {
  const last = [...q.matchAll(/[\p{L}\p{N}]+/gu)][MARKED_WORDS - 1];
  return last ? q.slice(0, last.index + last[0].length) : q;
}

/** The first word that is not excluded, in lower case. */
const firstWord = (q: string): string =>
  q
    .toLowerCase()
    .match(/-?[\p{L}\p{N}]+/gu)
    ?.find((word) => word !== 'or' && !word.startsWith('-')) ?? '';

const FRAGMENTS = 'MaxFragments=3, MaxWords=30, MinWords=10, ShortWord=0';

/**
 * Marks that occur in no message, the options that make PostgreSQL set them, and the function that reads
 * them.
 */
function makeMarks() {
  const secret = randomUUID();
  const [start, stop, gap] = [`<${secret}<`, `>${secret}>`, `|${secret}|`];
  const readOne = (marked: string): Fragment =>
    marked.split(start).flatMap((piece, index) => {
      // The text before the first mark matches nothing; every other piece begins with a match.
      const [head = '', tail = ''] = index === 0 ? ['', piece] : piece.split(stop);
      return [
        { text: head, is_match: true },
        { text: tail, is_match: false },
      ].filter(({ text }) => text !== '');
    });
  return {
    options: `StartSel="${start}", StopSel="${stop}", FragmentDelimiter="${gap}", ${FRAGMENTS}`,
    read: (marked: string): Fragment[] =>
      marked
        .split(gap)
        .map(readOne)
        .filter((fragment) => fragment.length > 0),
  };
}
