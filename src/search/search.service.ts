import { requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError, invalid } from '../core/errors.ts';
import { limitAtOnce } from '../core/limits/limits.ts';
import type { Scope } from '../core/scope.ts';
import { type Search, searchMessages } from './search.repository.ts';
import type { FoundMessage } from './search.schema.ts';

/**
 * The query ends with a word that the user may still be typing. Not in a phrase, and not for an excluded
 * word.
 */
const OPEN_END = /(?:^|\s)[\p{L}\p{N}]+$/u;
const isOpen = (q: string) => OPEN_END.test(q) && q.split('"').length % 2 === 1;

/** PostgreSQL's code for a statement that was cancelled, here by its timeout. */
const QUERY_CANCELED = '57014';

function refuseTooBroad(cause: { code?: string }): never {
  throw cause.code === QUERY_CANCELED ? new AppError('search_too_broad', { cause }) : cause;
}

/** Each search holds a database connection, possibly for seconds. */
const enter = limitAtOnce(4, 'searches');

/** The maximum of `skip`: all earlier messages must be found for each page. */
const MAX_SKIP = 10_000;

/**
 * Finds messages by their words, newest first, in the channels that the caller may read.
 *
 * @throws validation without a word that must occur, search_too_broad if it takes too long or `skip` is too
 *   large, rate_limited if too many searches are running, not_found, forbidden for a given channel
 */
export async function search(scope: Scope, input: Omit<Search, 'isOpen'>): Promise<FoundMessage[]> {
  if (input.skip > MAX_SKIP) {
    const detail = `skip: a search shows its newest ${MAX_SKIP} messages. For older ones name a time, with before.`;
    throw new AppError('search_too_broad', { detail });
  }
  const leave = enter(scope.actor.id);
  const result = await searchMessages(scope.sql, scope.actor, { ...input, isOpen: isOpen(input.q) })
    .catch(refuseTooBroad)
    .finally(leave);
  if (!result.isBound) {
    throw invalid('q', 'must have a word that occurs in what is to be found');
  }
  // A second query, only for calls that fail: it finds the reason.
  if (!result.canRead && input.channel_id) await requireChannel(scope, input.channel_id, 'read');
  return result.found;
}
