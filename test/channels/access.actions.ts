import type { Outcome } from '../support/sockets.ts';
import { MESSAGE_ACTIONS } from './access.messages.ts';
import { DONE, FORBIDDEN, holders, NOT_FOUND, REFUSALS, type Right, UNFIT } from './access.rights.ts';
import type { Kind, People, Relation, Stage } from './people.ts';

/* Every operation on channels and their contents: the table for the tests of all doors. */

/** The input of an operation at the tRPC door; the REST door puts some members into its path. */
export type Input = Record<string, unknown>;

export interface Action {
  name: string;
  /** The procedure, which declares its path and method at each door. */
  procedure: string;
  input: (stage: Stage, people: People) => Input;
  needs: Right;
  /** The outcome for callers without the right; 403 by default. */
  refusal?: Outcome;
  /** The outcome where another rule applies, for example for the members of a channel that has none. */
  otherwise?: (kind: Kind, relation: Relation) => Outcome | undefined;
  /** True when a second caller cannot do it after the first. */
  spends?: true;
}

/** The outcome of an action for a caller. */
export function expected(action: Action, kind: Kind, relation: Relation): Outcome {
  const { needs, refusal = FORBIDDEN, otherwise } = action;
  if (needs === 'without credentials') return otherwise?.(kind, relation) ?? DONE;
  const special = REFUSALS[relation] ?? otherwise?.(kind, relation);
  return special ?? (holders(needs, kind).includes(relation) ? DONE : refusal);
}

const inChannel =
  (more: Input = {}) =>
  (stage: Stage): Input => ({ id: stage.channelId, ...more });
const none = (): Input => ({});

/**
 * Only groups have members who join and leave: for other kinds, a reader of the channel gets an error that
 * says so.
 */
const onlyInGroups = (kind: Kind, relation: Relation) =>
  kind !== 'group' && holders('read', kind).includes(relation) ? UNFIT : undefined;

const CHANNEL_ACTIONS: Action[] = [
  { name: 'list channels', procedure: 'channels.list', input: none, needs: 'be let in' },
  { name: 'list all channels', procedure: 'channels.listAll', input: none, needs: 'be let in' },
  { name: 'count unread messages', procedure: 'readers.unread', input: none, needs: 'be let in' },
  { name: 'list questions of tools', procedure: 'replies.questions', input: none, needs: 'be let in' },
  { name: 'list threads', procedure: 'threads.list', input: none, needs: 'be let in' },
  { name: 'ask for the cursor of events', procedure: 'channels.cursor', input: none, needs: 'be let in' },
  { name: 'follow all channels', procedure: 'channels.events', input: none, needs: 'be let in' },
  {
    name: 'follow the channel',
    procedure: 'channels.events',
    input: ({ channelId }) => ({ channel_ids: [channelId] }),
    needs: 'read',
  },
  {
    name: 'open a direct channel',
    procedure: 'channels.direct',
    input: (_stage, { author }) => ({ user_id: author.id }),
    needs: 'be let in',
  },
  {
    name: 'create a channel',
    procedure: 'channels.create',
    input: () => ({ name: 'another' }),
    needs: 'make channels',
  },
  { name: 'get the channel', procedure: 'channels.get', input: inChannel(), needs: 'read' },
  {
    name: 'update the channel',
    procedure: 'channels.update',
    input: inChannel({ name: 'changed', data: { by: 'update' } }),
    needs: 'manage',
  },
  {
    name: 'replace the grants of the channel',
    procedure: 'channels.updateAccess',
    input: ({ channelId: id }, { stranger }) => ({
      id,
      access_grants: [{ principal_type: 'user', principal_id: stranger.id, permission: 'write' }],
    }),
    needs: 'manage',
    otherwise: (kind, relation) =>
      ['group', 'dm'].includes(kind) && holders('manage', kind).includes(relation) ? FORBIDDEN : undefined,
    spends: true,
  },
  {
    name: 'share the channel',
    procedure: 'channels.update',
    input: ({ channelId: id }, { stranger }) => ({
      id,
      access_grants: [{ principal_type: 'user', principal_id: stranger.id, permission: 'write' }],
    }),
    needs: 'manage',
    spends: true,
  },
  {
    name: 'delete the channel',
    procedure: 'channels.delete',
    input: inChannel(),
    needs: 'manage',
    spends: true,
  },
];

const MEMBER_ACTIONS: Action[] = [
  { name: 'list the members', procedure: 'members.list', input: inChannel(), needs: 'read' },
  { name: 'see who is present', procedure: 'members.present', input: inChannel(), needs: 'read' },
  { name: 'send a typing notice', procedure: 'members.typing', input: inChannel(), needs: 'write' },
  {
    name: 'add a member',
    procedure: 'members.add',
    input: ({ channelId: id }, { stranger }) => ({ id, user_ids: [stranger.id] }),
    needs: 'manage',
    otherwise: onlyInGroups,
    spends: true,
  },
  {
    name: 'remove a member',
    procedure: 'members.remove',
    input: ({ channelId: id }, { writer }) => ({ id, user_ids: [writer.id] }),
    needs: 'manage',
    otherwise: onlyInGroups,
    spends: true,
  },
  {
    name: 'make a member a manager',
    procedure: 'members.setRole',
    input: ({ channelId: id }, { writer }) => ({ id, user_id: writer.id, role: 'manager' }),
    needs: 'manage',
    otherwise: onlyInGroups,
    spends: true,
  },
  {
    name: 'leave',
    procedure: 'members.leave',
    input: inChannel(),
    needs: 'read',
    otherwise: onlyInGroups,
    spends: true,
  },
];

const READER_ACTIONS: Action[] = [
  { name: 'mark as read', procedure: 'readers.markRead', input: inChannel(), needs: 'read' },
  {
    name: 'choose the notification level',
    procedure: 'readers.notify',
    input: inChannel({ level: 'none' }),
    needs: 'read',
  },
  {
    name: 'mute the channel',
    procedure: 'readers.mute',
    input: inChannel({ is_channel_muted: true }),
    needs: 'read',
  },
  {
    name: 'hide the channel',
    procedure: 'readers.setActive',
    input: inChannel({ is_active: false }),
    needs: 'be a member',
    refusal: NOT_FOUND,
  },
];

const onWebhook = ({ channelId, webhook }: Stage): Input => ({ id: channelId, webhook_id: webhook.id });

const WEBHOOK_ACTIONS: Action[] = [
  { name: 'list webhooks', procedure: 'webhooks.list', input: inChannel(), needs: 'manage' },
  {
    name: 'create a webhook',
    procedure: 'webhooks.create',
    input: inChannel({ name: 'another' }),
    needs: 'manage',
  },
  {
    name: 'rename a webhook',
    procedure: 'webhooks.update',
    input: (stage) => ({ ...onWebhook(stage), name: 'changed' }),
    needs: 'manage',
  },
  {
    name: 'delete a webhook',
    procedure: 'webhooks.delete',
    input: onWebhook,
    needs: 'manage',
    spends: true,
  },
  {
    name: 'post as a webhook',
    procedure: 'webhooks.post',
    input: ({ webhook }) => ({ webhook_id: webhook.id, token: webhook.token, content: 'new' }),
    needs: 'without credentials',
    otherwise: (kind) => (kind === 'dm' ? { status: 401, code: 'unauthenticated' } : undefined),
  },
  {
    name: 'post as a webhook with a wrong token',
    procedure: 'webhooks.post',
    input: ({ webhook }) => ({ webhook_id: webhook.id, token: 'guessed', content: 'new' }),
    needs: 'without credentials',
    otherwise: () => ({ status: 401, code: 'unauthenticated' }),
  },
];

const onFile = ({ fileId }: Stage): Input => ({ id: fileId });

/** A caller who may not read a file must not learn that it exists. */
const FILE_ACTIONS: Action[] = [
  { name: 'list own files', procedure: 'files.list', input: none, needs: 'be let in' },
  { name: 'find own files', procedure: 'files.searchOwn', input: none, needs: 'be let in' },
  { name: 'count own files', procedure: 'files.count', input: none, needs: 'be let in' },
  { name: 'count own files by the other path', procedure: 'files.countOwn', input: none, needs: 'be let in' },
  {
    name: 'find missing files',
    procedure: 'files.search',
    input: () => ({ filename: 'none' }),
    needs: 'be let in',
    otherwise: () => NOT_FOUND,
  },
  {
    name: 'get the text of the file of a message',
    procedure: 'files.text',
    input: onFile,
    needs: 'read',
    refusal: NOT_FOUND,
  },
  {
    name: 'rename the file of a message',
    procedure: 'files.rename',
    input: ({ fileId }) => ({ id: fileId, filename: 'renamed.txt' }),
    needs: 'delete the file',
    otherwise: (kind, relation) =>
      holders('read', kind).includes(relation) || holders('delete the file', kind).includes(relation)
        ? undefined
        : NOT_FOUND,
    spends: true,
  },
  {
    name: 'replace the text of the file of a message',
    procedure: 'files.updateText',
    input: ({ fileId }) => ({ id: fileId, content: 'changed' }),
    needs: 'delete the file',
    otherwise: (kind, relation) =>
      holders('read', kind).includes(relation) || holders('delete the file', kind).includes(relation)
        ? undefined
        : NOT_FOUND,
    spends: true,
  },
  {
    name: 'get the file of a message',
    procedure: 'files.get',
    input: onFile,
    needs: 'read',
    refusal: NOT_FOUND,
  },
  {
    name: 'delete the file of a message',
    procedure: 'files.delete',
    input: onFile,
    needs: 'delete the file',
    otherwise: (kind, relation) =>
      holders('read', kind).includes(relation) || holders('delete the file', kind).includes(relation)
        ? undefined
        : NOT_FOUND,
    spends: true,
  },
];

export const ACTIONS: Action[] = [
  ...CHANNEL_ACTIONS,
  ...MEMBER_ACTIONS,
  ...READER_ACTIONS,
  ...MESSAGE_ACTIONS,
  ...WEBHOOK_ACTIONS,
  ...FILE_ACTIONS,
];
