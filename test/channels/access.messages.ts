import { NOWHERE } from '../support/doors.ts';
import type { Action, Input } from './access.actions.ts';
import { holders, NOT_FOUND } from './access.rights.ts';
import type { Stage } from './people.ts';

/** Operations on the messages of a channel. */

type Which = 'othersId' | 'ownId' | 'leftId' | 'removedId';

const onMessage =
  (which: Which, more: Input = {}) =>
  (stage: Stage): Input => ({
    id: stage.channelId,
    message_id: stage[which],
    ...more,
  });
const edit = { content: 'changed', data: { by: 'edit' } };
const reaction = { name: '👍' };

export const MESSAGE_ACTIONS: Action[] = [
  {
    name: 'list messages',
    procedure: 'messages.list',
    input: ({ channelId: id }) => ({ id }),
    needs: 'read',
  },
  {
    name: 'list pinned messages',
    procedure: 'messages.pinned',
    input: ({ channelId: id }) => ({ id }),
    needs: 'read',
  },
  {
    name: 'list messages with files',
    procedure: 'messages.withFiles',
    input: ({ channelId: id }) => ({ id }),
    needs: 'read',
  },
  {
    name: 'search in the channel',
    procedure: 'search.messages',
    input: ({ channelId: channel_id }) => ({ q: 'was', channel_id }),
    needs: 'read',
  },
  {
    name: 'search everywhere',
    procedure: 'search.messages',
    input: () => ({ q: 'was' }),
    needs: 'be let in',
  },
  {
    name: 'post',
    procedure: 'messages.post',
    input: ({ channelId: id }) => ({ id, content: 'new' }),
    needs: 'write',
  },
  {
    name: 'reply in a thread',
    procedure: 'messages.post',
    input: ({ channelId: id, othersId: parent_id }) => ({ id, content: 'new', parent_id }),
    needs: 'write',
  },
  {
    name: 'quote a message',
    procedure: 'messages.post',
    input: ({ channelId: id, othersId: reply_to_id }) => ({ id, content: 'new', reply_to_id }),
    needs: 'write',
  },
  { name: 'get a message', procedure: 'messages.get', input: onMessage('othersId'), needs: 'read' },
  {
    name: 'get the data of a message',
    procedure: 'messages.data',
    input: onMessage('ownId'),
    needs: 'read',
  },
  { name: 'read a thread', procedure: 'messages.thread', input: onMessage('othersId'), needs: 'read' },
  {
    name: 'pin',
    procedure: 'messages.pin',
    input: onMessage('othersId', { is_pinned: true }),
    needs: 'read',
  },
  {
    name: 'stop the reply of a model',
    procedure: 'replies.stop',
    input: onMessage('othersId'),
    needs: 'read',
    // No model wrote the message.
    otherwise: (kind, relation) => (holders('read', kind).includes(relation) ? NOT_FOUND : undefined),
  },
  {
    name: 'have the reply of a model written again',
    procedure: 'replies.retry',
    input: onMessage('othersId'),
    needs: 'write',
    // No model wrote the message.
    otherwise: (kind, relation) => (holders('write', kind).includes(relation) ? NOT_FOUND : undefined),
  },
  {
    name: 'answer a tool that a model called',
    procedure: 'replies.answer',
    input: onMessage('othersId', { question_id: NOWHERE, answer: true }),
    needs: 'read',
    // No tool asks.
    otherwise: (kind, relation) => (holders('read', kind).includes(relation) ? NOT_FOUND : undefined),
  },
  { name: 'react', procedure: 'reactions.add', input: onMessage('othersId', reaction), needs: 'write' },
  {
    name: 'remove a reaction',
    procedure: 'reactions.remove',
    input: onMessage('othersId', reaction),
    needs: 'write',
  },
  {
    name: "edit the author's message",
    procedure: 'messages.update',
    input: onMessage('ownId', edit),
    needs: 'author',
  },
  {
    name: 'edit a message of a member who left',
    procedure: 'messages.update',
    input: onMessage('leftId', edit),
    needs: 'former author',
  },
  {
    name: 'edit a message of a member who was removed',
    procedure: 'messages.update',
    input: onMessage('removedId', edit),
    needs: 'removed author',
  },
  {
    name: "delete the author's message",
    procedure: 'messages.delete',
    input: onMessage('ownId'),
    needs: 'author',
    spends: true,
  },
  {
    name: 'delete a message of a member who left',
    procedure: 'messages.delete',
    input: onMessage('leftId'),
    needs: 'former author',
    spends: true,
  },
  {
    name: 'delete a message of a member who was removed',
    procedure: 'messages.delete',
    input: onMessage('removedId'),
    needs: 'removed author',
    spends: true,
  },
];
