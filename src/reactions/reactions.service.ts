import { requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { noSuchMessage, recordIfChanged, Unchanged } from '../messages/messages.changes.ts';
import { HAS_REACTED, MAX_NAMES, REACT, UNREACT } from './reactions.repository.ts';

export interface ReactionInput {
  id: string;
  message_id: string;
  name: string;
}

/**
 * Adds a reaction of the caller. A repeated reaction changes nothing and sends no event.
 *
 * @throws not_found, forbidden, and bad_request if the message has the maximum of different names
 */
export async function addReaction(scope: Scope, input: ReactionInput): Promise<true> {
  const { channel, key, has_reacted } = await find(scope, input);
  if (has_reacted) return true;
  const { message_id: messageId, name } = input;
  await recordIfChanged(scope, channel, (log) =>
    log(
      'message:reaction:add',
      messageId,
      async ({ sql, at }) => {
        const [outcome] = await sql.rows(REACT, { ...key, at });
        if (!outcome) throw noSuchMessage();
        if (outcome.is_full) {
          const detail = `A message takes at most ${MAX_NAMES} different reactions.`;
          throw new AppError('bad_request', { detail });
        }
        if (!outcome.is_added) throw new Unchanged();
      },
      { extra: { name } },
    ),
  );
  return true;
}

/** Removes the caller's reaction, if it exists. @throws not_found, forbidden */
export async function removeReaction(scope: Scope, input: ReactionInput): Promise<true> {
  const { channel, key, has_reacted } = await find(scope, input);
  if (!has_reacted) return true;
  const { message_id: messageId, name } = input;
  await recordIfChanged(scope, channel, (log) =>
    log(
      'message:reaction:remove',
      messageId,
      async ({ sql }) => {
        const removed = await sql.rows(UNREACT, key);
        if (removed.length === 0) throw new Unchanged();
      },
      { extra: { name } },
    ),
  );
  return true;
}

/** A first check without the channel's lock: most calls that change nothing end here. */
async function find(scope: Scope, { id, message_id, name }: ReactionInput) {
  const channel = await requireChannel(scope, id, 'write');
  const key = { channelId: id, messageId: message_id, name, userId: scope.actor.id };
  const [found] = await scope.sql.rows(HAS_REACTED, key);
  if (!found) throw noSuchMessage();
  return { channel, key, ...found };
}
