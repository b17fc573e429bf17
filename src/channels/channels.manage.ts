import { LockMode } from '@mikro-orm/postgresql';
import type { GrantInput } from '../access/access.schema.ts';
import { replaceGrants, revokeGrants } from '../access/access.service.ts';
import { record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { noSuchChannel, requireChannel } from '../channelbase/channels.access.service.ts';
import {
  briefOf,
  publishHappening,
  publishNotice,
  recordHappening,
} from '../channelbase/channels.changes.ts';
import { Channel, type ChannelEntity } from '../channelbase/channels.entity.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { transaction } from '../database/transaction.ts';
import type { ChannelDetail } from './channels.schema.ts';
import { viewChanged } from './channels.service.ts';

export interface ChannelInput {
  name?: string | undefined;
  description?: string | null | undefined;
  is_private?: boolean | null | undefined;
  data?: Record<string, unknown> | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
  /** Only for standard channels: groups have members instead. */
  access_grants?: GrantInput[] | null | undefined;
}

/** The current time of a channel: nanoseconds at whole microseconds. Text, because it exceeds 2^53. */
const nowNanoseconds = (): string => `${BigInt(Date.now()) * 1_000_000n}`;

export const channelResource = (id: string) =>
  ({ type: 'channel', id, publicSharing: 'sharing.public_channels' }) as const;

/**
 * The fields of a channel for the audit log. For groups without `data` and `meta`, which belong to the
 * members.
 */
const audited = ({ type, name, description, is_private, data, meta }: ChannelEntity) => ({
  name,
  description,
  is_private,
  ...(type === null && { data, meta }),
});

/** Changes the fields that were sent and keeps the rest. @throws not_found, forbidden */
export async function updateChannel(scope: Scope, id: string, input: ChannelInput): Promise<ChannelDetail> {
  const { type } = await requireChannel(scope, id, 'manage');
  const { access_grants, ...members } = input;
  const changes = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  const grants = type === null ? access_grants : null;
  const recorded = await transaction(scope, async (tx) => {
    const channel = await tx.em.findOne(Channel, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!channel) throw noSuchChannel();
    const before = audited(channel);
    tx.em.assign(
      channel,
      { ...changes, updated_at: nowNanoseconds(), updated_by: scope.actor.id },
      { mergeObjectProperties: false },
    );
    await tx.em.flush();
    const changed = difference(before, audited(channel));
    const target = { type: 'channel', id };
    if (changed) await record(scope, tx, { action: 'channel.update', target, ...changed });
    if (grants) await replaceGrants(scope, tx, channelResource(id), grants);
    return recordHappening(scope, tx, [id], { type: 'channel:updated', data: {} });
  });
  // Only new grants change access.
  for (const happening of recorded) publishHappening(scope, happening, grants ? 'changed' : 'same');
  return viewChanged(scope, id);
}

/**
 * Replaces the grants of a standard channel. @throws not_found, forbidden also for groups and direct channels
 */
export async function replaceAccess(
  scope: Scope,
  id: string,
  access_grants: GrantInput[],
): Promise<ChannelDetail> {
  const { type } = await requireChannel(scope, id, 'manage');
  if (type !== null) {
    throw new AppError('forbidden', { detail: 'This channel goes by its members, not by grants.' });
  }
  return updateChannel(scope, id, { access_grants });
}

/** Deletes a channel and its messages, members and log. @throws not_found, forbidden */
export async function deleteChannel(scope: Scope, id: string): Promise<true> {
  const channel = await requireChannel(scope, id, 'manage');
  const deleted = await transaction(scope, async (tx) => {
    // Locks the channel first, as an update does, so that concurrent changes wait for each other.
    const count = await tx.em.nativeDelete(Channel, { id });
    await revokeGrants(tx, channelResource(id));
    const target = { type: 'channel', id };
    const before = { name: channel.name, type: channel.type };
    if (count > 0) await record(scope, tx, { action: 'channel.delete', target, before });
    return count > 0;
  });
  if (!deleted) throw noSuchChannel();
  // Before `channel.access`, after which the subscribers of the channel are no longer known.
  publishNotice(scope, { channelId: id }, briefOf(channel), { type: 'channel:deleted', data: {} });
  scope.bus.publish('channel.access', { channelId: id, since: 0 });
  return true;
}
