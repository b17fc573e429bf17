import { may } from '../configs/settings/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { type ChannelAccess, listReadable, readAccess } from './channels.access.repository.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /**
     * The readers of a channel have changed, or the channel was deleted. New readers get the events after
     * `since`.
     */
    'channel.access': { channelId: string; since: number };
  }
}

/** @throws channels_disabled, forbidden if the caller has no permission to use channels */
export function requireChannels(scope: Scope): void {
  if (!scope.configs.current.channels.enable) throw new AppError('channels_disabled');
  if (!may(scope, 'features.channels')) throw new AppError('forbidden');
}

export const noSuchChannel = () => new AppError('not_found', { detail: 'There is no such channel.' });

/**
 * The result of a read that has checked access itself. @throws not_found for undefined, forbidden for null
 */
export function found<T>(result: T | null | undefined): T {
  if (result === undefined) throw noSuchChannel();
  if (result === null) throw new AppError('forbidden');
  return result;
}

const NEEDED = {
  read: (channel: ChannelAccess) => channel.can_read,
  write: (channel: ChannelAccess) => channel.can_write,
  manage: (channel: ChannelAccess) => channel.is_manager,
};

/**
 * The channel, if the caller has the right.
 *
 * @throws not_found, forbidden
 */
export async function requireChannel(
  scope: Scope,
  channelId: string,
  right: keyof typeof NEEDED,
): Promise<ChannelAccess> {
  const channel = await readAccess(scope.sql, scope.actor, channelId);
  if (!channel) throw noSuchChannel();
  if (!NEEDED[right](channel)) throw new AppError('forbidden');
  return channel;
}

/**
 * The ids of the channels that the caller may read, among the given channels or among all.
 *
 * @throws channels_disabled, forbidden if the caller has no permission to use channels
 */
export function readableChannels(scope: Scope, among: string[] | null = null): Promise<string[]> {
  requireChannels(scope);
  return listReadable(scope.sql, scope.actor, among);
}
