import { requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError, invalid } from '../core/errors.ts';
import { limitAtOnce } from '../core/limits/limits.ts';
import type { Scope } from '../core/scope.ts';
import { type Search, searchMessages } from './search.repository.ts';
import type { FoundMessage } from './search.schema.ts';

/** A word at the very end, which may still be typed. A phrase is meant as it stands, and so is a word that must not occur. */
const OPEN_END = /(?:^|\s)[\p{L}\p{N}]+$/u;
const isOpen = (q: string) => OPEN_END.test(q) && q.split('"').length % 2 === 1;

/** PostgreSQL's code for a statement that took too long. */
const QUERY_CANCELED = '57014';

function refuseTooBroad(cause: { code?: string }): never {
  throw cause.code === QUERY_CANCELED ? new AppError('search_too_broad', { cause }) : cause;
}

/** Each holds a connection to the database, for seconds where there is much to look through. */
const enter = limitAtOnce(4, 'searches');

/** How far down pages go: all before them has to be found for each. */
const MAX_SKIP = 10_000;

/**
 * Finds messages by their words, newest first, in the channels that the caller may read.
 *
 * @throws validation without a word that must occur; search_too_broad when it takes too long, or asks for too late a page;
 * rate_limited with too many under way; not_found, forbidden for the one channel that is asked for
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
  // Only the unhappy answer pays for knowing why.
  if (!result.canRead && input.channel_id) await requireChannel(scope, input.channel_id, 'read');
  return result.found;
}
