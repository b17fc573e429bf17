import { noSuchChannel, requireChannel } from '../channelbase/channels.access.service.ts';
import type { Scope } from '../core/scope.ts';
import type { ChannelDetail, ChannelView } from './channels.schema.ts';
import { listAllChannels, listOwnChannels, readChannel } from './channels.views.repository.ts';

/**
 * The channels that the caller is a member of, owns or has a grant for, without those that the caller has
 * hidden.
 */
export const listChannels = (scope: Scope): Promise<ChannelView[]> => listOwnChannels(scope.sql, scope.actor);

/** The same with hidden channels; for administrators also all standard channels and groups. */
export const listEveryChannel = (scope: Scope): Promise<ChannelView[]> =>
  listAllChannels(scope.sql, scope.actor);

/**
 * A channel after a change by the caller. The change may have ended the caller's own right to read; the
 * answer still shows the result.
 *
 * @throws not_found if the channel was deleted meanwhile
 */
export async function viewChanged(scope: Scope, id: string): Promise<ChannelDetail> {
  const channel = await readChannel(scope.sql, scope.actor, id, 'changed');
  if (!channel) throw noSuchChannel();
  return channel;
}

/** A channel, if the caller may read it, or manage it without reading it. @throws not_found, forbidden */
export async function getChannel(
  scope: Scope,
  id: string,
  right: 'read' | 'manage' = 'read',
): Promise<ChannelDetail> {
  const channel = await readChannel(scope.sql, scope.actor, id, right);
  if (channel) return channel;
  // A second query, only for calls that fail: it finds the reason.
  await requireChannel(scope, id, right);
  throw noSuchChannel();
}
