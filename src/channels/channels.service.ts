import { LockMode } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { GrantInput } from '../access/access.schema.ts';
import { replaceGrants, revokeGrants } from '../access/access.service.ts';
import { may } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { Channel } from './channels.entity.ts';
import {
  type ChannelAccess,
  listAllChannels,
  listOwnChannels,
  listReadable,
  readAccess,
  readChannel,
} from './channels.repository.ts';
import type { ChannelView } from './channels.schema.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** Who may read a channel is another now, or the channel is gone. New readers are due the events after `since`. */
    'channel.access': { channelId: string; since: number };
  }
}

/** @throws channels_disabled, forbidden when the caller may not use channels at all */
export function requireChannels(scope: Scope): void {
  if (!scope.configs.current.channels.enable) throw new AppError('channels_disabled');
  if (!may(scope, 'features.channels')) throw new AppError('forbidden');
}

export const noSuchChannel = () => new AppError('not_found', { detail: 'There is no such channel.' });

const NEEDED = {
  read: (channel: ChannelAccess) => channel.can_read,
  write: (channel: ChannelAccess) => channel.can_write,
  manage: (channel: ChannelAccess) => channel.is_manager,
};

/**
 * The channel, when the caller may do that in it.
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
 * The ids of the channels that the caller may read, among the given ones or of all.
 *
 * @throws channels_disabled, forbidden when the caller may not use channels at all
 */
export function readableChannels(scope: Scope, among: string[] | null = null): Promise<string[]> {
  requireChannels(scope);
  return listReadable(scope.sql, scope.actor, among);
}

export interface ChannelInput {
  name?: string | undefined;
  description?: string | null | undefined;
  is_private?: boolean | null | undefined;
  data?: Record<string, unknown> | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
  access_grants?: GrantInput[] | null | undefined;
}

/** Now as a channel's time: nanoseconds at whole microseconds, as text, because it exceeds 2^53. */
const nowNanoseconds = (): string => `${BigInt(Date.now()) * 1_000_000n}`;

const resource = (id: string) => ({ type: 'channel', id, publicSharing: 'sharing.public_channels' }) as const;

/** Makes a standard channel. @throws forbidden unless the caller is an administrator */
export async function createChannel(
  scope: Scope,
  input: ChannelInput & { name: string },
): Promise<ChannelView> {
  if (scope.actor.role !== 'admin') throw new AppError('forbidden');
  const id = uuidv7();
  const now = nowNanoseconds();
  await scope.em.transactional(async (em) => {
    em.create(Channel, {
      id,
      user_id: scope.actor.id,
      type: null,
      name: input.name,
      description: input.description ?? null,
      is_private: input.is_private ?? null,
      data: input.data ?? null,
      meta: input.meta ?? null,
      created_at: now,
      updated_at: now,
      updated_by: null,
      last_message_at: null,
    });
    await em.flush();
    if (input.access_grants) await replaceGrants(scope, em, resource(id), input.access_grants);
  });
  scope.bus.publish('channel.access', { channelId: id, since: 0 });
  return getChannel(scope, id);
}

/** The caller's own channels and those that they may read by a grant. */
export const listChannels = (scope: Scope): Promise<ChannelView[]> => listOwnChannels(scope.sql, scope.actor);

/** The same, and for administrators every channel. */
export const listEveryChannel = (scope: Scope): Promise<ChannelView[]> =>
  listAllChannels(scope.sql, scope.actor);

/** @throws not_found, forbidden */
export async function getChannel(scope: Scope, id: string): Promise<ChannelView> {
  const channel = await readChannel(scope.sql, scope.actor, id);
  if (channel) return channel;
  // Only the unhappy answer pays for knowing why.
  await requireChannel(scope, id, 'read');
  throw noSuchChannel();
}

/** Changes what was sent and keeps the rest. @throws not_found, forbidden */
export async function updateChannel(scope: Scope, id: string, input: ChannelInput): Promise<ChannelView> {
  await requireChannel(scope, id, 'manage');
  const { access_grants, ...members } = input;
  const changes = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const since = await scope.em.transactional(async (em) => {
    const channel = await em.findOne(Channel, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!channel) throw noSuchChannel();
    em.assign(
      channel,
      { ...changes, updated_at: nowNanoseconds(), updated_by: scope.actor.id },
      { mergeObjectProperties: false },
    );
    await em.flush();
    if (access_grants) await replaceGrants(scope, em, resource(id), access_grants);
    return Number(channel.last_event);
  });
  // Another name or description is nobody's right.
  if (access_grants) scope.bus.publish('channel.access', { channelId: id, since });
  return getChannel(scope, id);
}

/** Deletes a channel with everything in it. @throws not_found, forbidden */
export async function deleteChannel(scope: Scope, id: string): Promise<true> {
  await requireChannel(scope, id, 'manage');
  await scope.em.transactional(async (em) => {
    // The channel first, as in an update: two changes at once queue on its row.
    await em.nativeDelete(Channel, { id });
    await revokeGrants(em, resource(id));
  });
  scope.bus.publish('channel.access', { channelId: id, since: 0 });
  return true;
}
