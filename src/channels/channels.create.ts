import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { replaceGrants } from '../access/access.service.ts';
import { record } from '../audit/audit.record.ts';
import { readAccess } from '../channelbase/channels.access.repository.ts';
import {
  briefOf,
  publishHappening,
  publishNotice,
  recordHappening,
} from '../channelbase/channels.changes.ts';
import { AppError, noSuchUser } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { refuseVanished, resolvePeople, tooManyMembers } from '../members/members.people.ts';
import { addMembers } from '../members/members.repository.ts';
import { MAX_MEMBERS } from '../members/members.schema.ts';
import { storeHidden } from '../reads/reads.repository.ts';
import { BY_KEY, INSERT } from './channels.create.repository.ts';
import { type ChannelInput, channelResource } from './channels.manage.ts';
import type { ChannelDetail } from './channels.schema.ts';
import { getChannel } from './channels.service.ts';

export interface NewChannel extends ChannelInput {
  name: string;
  /** Null for a standard channel. */
  type: 'group' | 'dm' | null;
  user_ids: string[];
  group_ids: string[];
}

/** The maximum of people in a direct channel. More people use a group. */
const MAX_DIRECT = 50;

/** The same key for the same people in any order. */
const directKey = (userIds: string[]): string =>
  createHash('sha256').update(userIds.toSorted().join(' ')).digest('base64url');

/**
 * Creates a channel: a standard channel, a group with the caller as its manager, or a direct channel. If
 * these people already have a direct channel, returns that one.
 *
 * @throws forbidden for a standard channel unless the caller is an administrator, bad_request for people who
 *   do not exist or are too many
 */
export async function createChannel(scope: Scope, input: NewChannel): Promise<ChannelDetail> {
  if (input.type === null) {
    if (scope.actor.role !== 'admin') throw new AppError('forbidden');
    return store(scope, input, []);
  }
  const others = await resolvePeople(scope, input);
  if (input.type === 'dm' && others.length === 0) {
    throw new AppError('bad_request', { detail: 'user_ids: name whom the direct channel is with.' });
  }
  const memberIds = [...new Set([scope.actor.id, ...others])];
  if (input.type === 'dm') return openDirect(scope, memberIds, input);
  if (memberIds.length > MAX_MEMBERS) throw tooManyMembers();
  return store(scope, input, memberIds);
}

/**
 * The direct channel of the caller with another person, or alone. Creates it if it does not exist, and shows
 * it in the caller's list again if the caller had hidden it.
 *
 * @throws not_found if the account does not exist
 */
export async function openDirectWith(scope: Scope, userId: string): Promise<ChannelDetail> {
  await resolvePeople(scope, { user_ids: [userId], group_ids: [] }).catch((error: unknown) => {
    const isUnknown = error instanceof AppError && error.code === 'bad_request';
    throw isUnknown ? noSuchUser(error) : error;
  });
  const memberIds = [...new Set([scope.actor.id, userId])];
  return openDirect(scope, memberIds, { name: '' });
}

async function openDirect(
  scope: Scope,
  memberIds: string[],
  input: ChannelInput & { name: string },
): Promise<ChannelDetail> {
  if (memberIds.length > MAX_DIRECT) {
    const detail = `user_ids: a direct channel has at most ${MAX_DIRECT} people. Make a group instead.`;
    throw new AppError('bad_request', { detail });
  }
  const key = directKey(memberIds);
  const [existing] = await scope.sql.rows(BY_KEY, { key });
  if (!existing) return store(scope, { ...input, type: 'dm', access_grants: null }, memberIds, key);
  await reopen(scope, existing.id);
  return getChannel(scope, existing.id);
}

/** Shows a direct channel in the caller's list again, and notifies the caller's other clients. */
async function reopen(scope: Scope, channelId: string): Promise<void> {
  const stored = await storeHidden(scope.sql, scope.actor.id, channelId, false);
  const channel = stored?.was_hidden && (await readAccess(scope.sql, scope.actor, channelId));
  if (!channel) return;
  publishNotice(scope, { userIds: [scope.actor.id] }, briefOf(channel), {
    type: 'channel:created',
    data: {},
  });
}

async function store(
  scope: Scope,
  input: ChannelInput & Pick<NewChannel, 'name' | 'type'>,
  memberIds: string[],
  key: string | null = null,
): Promise<ChannelDetail> {
  const { type, access_grants: grants } = input;
  const manager = type === 'group' ? scope.actor.id : null;
  const made = await transaction(scope, async (tx) => {
    const id = await insert(tx, scope.actor.id, input, key);
    // Another call has just created the same direct channel.
    if (id === undefined) return [];
    // Only the members may know who is in a direct channel.
    if (type !== 'dm') await recordCreation(scope, tx, id, { ...input, user_ids: memberIds });
    if (memberIds.length > 0) await addMembers(tx, id, memberIds, { manager, invitedBy: scope.actor.id });
    if (type === null && grants) await replaceGrants(scope, tx, channelResource(id), grants);
    return recordHappening(scope, tx, [id], { type: 'channel:created', data: {} });
  }).catch(refuseVanished);
  for (const happening of made) publishHappening(scope, happening, 'changed');
  const id = made[0]?.channel.id ?? (await scope.sql.rows(BY_KEY, { key }))[0]?.id ?? '';
  return getChannel(scope, id);
}

async function recordCreation(
  scope: Scope,
  sql: Sql,
  id: string,
  { type, name, description = null, is_private = null, user_ids }: Omit<NewChannel, 'group_ids'>,
): Promise<void> {
  const target = { type: 'channel', id };
  const after = { type, name, description, is_private, ...(user_ids.length > 0 && { user_ids }) };
  await record(scope, sql, { action: 'channel.create', target, after });
}

async function insert(
  sql: Sql,
  userId: string,
  { type, name, description, is_private, data, meta }: ChannelInput & Pick<NewChannel, 'type'>,
  key: string | null,
): Promise<string | undefined> {
  const form = (value: object | null | undefined) => (value ? JSON.stringify(value) : null);
  const [row] = await sql.rows(INSERT, {
    id: uuidv7(),
    userId,
    type,
    name,
    description: description ?? null,
    isPrivate: is_private ?? null,
    data: form(data),
    meta: form(meta),
    key,
  });
  return row?.id;
}
