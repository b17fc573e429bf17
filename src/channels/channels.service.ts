import { noSuchChannel, requireChannel } from '../channelbase/channels.access.service.ts';
import type { Scope } from '../core/scope.ts';
import type { ChannelDetail, ChannelView } from './channels.schema.ts';
import { listAllChannels, listOwnChannels, readChannel } from './channels.views.repository.ts';

/** The channels that the caller is in, owns or may read by a grant, but for those they have put away. */
export const listChannels = (scope: Scope): Promise<ChannelView[]> => listOwnChannels(scope.sql, scope.actor);

/** The same with those put away; for administrators every channel but other people's direct ones. */
export const listEveryChannel = (scope: Scope): Promise<ChannelView[]> =>
  listAllChannels(scope.sql, scope.actor);

/**
 * A channel after a change by the caller, which may have taken their own right: what is stored is not refused any more.
 *
 * @throws not_found when it was deleted meanwhile
 */
export async function viewChanged(scope: Scope, id: string): Promise<ChannelDetail> {
  const channel = await readChannel(scope.sql, scope.actor, id, 'changed');
  if (!channel) throw noSuchChannel();
  return channel;
}

/** A channel that the caller may read, or manage, without reading it. @throws not_found, forbidden */
export async function getChannel(
  scope: Scope,
  id: string,
  right: 'read' | 'manage' = 'read',
): Promise<ChannelDetail> {
  const channel = await readChannel(scope.sql, scope.actor, id, right);
  if (channel) return channel;
  // Only the unhappy answer pays for knowing why.
  await requireChannel(scope, id, right);
  throw noSuchChannel();
}
