import type { Kind, Relation, Stage } from './people.ts';

/*
 * Who may do what with channels and their messages: the one table that the tests of all doors are made from.
 */

/** What one can be allowed in a channel; each is a set of relations, by kind. */
type Right = 'nothing special' | 'make channels' | 'read' | 'write' | 'manage' | 'author' | 'former author';

const HAVE_ALL: Relation[] = ['owner', 'administrator', 'insider'];
const WRITERS: Relation[] = [...HAVE_ALL, 'manager', 'writer'];
const GRANTED: Relation[] = [...WRITERS, 'reader', 'author'];
const EVERYBODY: Relation[] = [...GRANTED, 'left', 'stranger'];
const MEMBERS: Relation[] = ['manager', 'insider', 'writer', 'author'];

const STANDARD: Record<Right, Relation[]> = {
  'nothing special': EVERYBODY,
  'make channels': HAVE_ALL,
  read: GRANTED,
  write: WRITERS,
  manage: HAVE_ALL,
  author: [...WRITERS, 'author'],
  'former author': WRITERS,
};

const GROUP: Record<Right, Relation[]> = {
  ...STANDARD,
  read: MEMBERS,
  write: MEMBERS,
  author: ['manager', 'insider', 'author'],
  'former author': ['manager', 'insider'],
};

const RIGHTS: Record<Kind, Record<Right, Relation[]>> = {
  standard: STANDARD,
  // Who may read it still is the author of what they wrote.
  public: { ...STANDARD, read: EVERYBODY, 'former author': [...WRITERS, 'left'] },
  group: GROUP,
  // Nobody is in charge of a direct channel; an administrator who is in it answers for what is said there.
  dm: { ...GROUP, author: ['insider', 'author'], 'former author': ['insider'] },
};

export interface Action {
  name: string;
  /** The call at the REST door. */
  rest: (stage: Stage) => [request: string, body?: unknown];
  /** The same at the tRPC door. */
  trpc: (stage: Stage) => [type: 'query' | 'mutation', path: string, input?: unknown];
  needs: Right;
  /** What kinds of channels it is about, when not all. */
  kinds?: readonly Kind[];
}

/** Who succeeds; everybody else who is signed in gets 403. */
export const allowed = ({ needs }: Action, kind: Kind): readonly Relation[] => RIGHTS[kind][needs];

/** Who hears what happens. */
export const hearers = (kind: Kind): readonly Relation[] => RIGHTS[kind].read;

const GRANT_KINDS = ['standard', 'public'] as const;
const edit = { content: 'changed', data: { by: 'edit' } };

type Method = 'GET' | 'POST' | 'DELETE';

/** An action on one message of the stage. */
const onMessage = (
  name: string,
  needs: Right,
  which: Exclude<keyof Stage, 'channelId'>,
  [method, path]: [Method, string],
  procedure: string,
  body?: Record<string, unknown>,
): Action => ({
  name,
  needs,
  rest: ({ channelId, [which]: id }) => [`${method} /channels/${channelId}/messages/${id}${path}`, body],
  trpc: ({ channelId: id, [which]: message_id }) => [
    method === 'GET' ? 'query' : 'mutation',
    procedure,
    { id, message_id, ...body },
  ],
});

const CHANNEL_ACTIONS: Action[] = [
  {
    name: 'list channels',
    rest: () => ['GET /channels/'],
    trpc: () => ['query', 'channels.list'],
    needs: 'nothing special',
  },
  {
    name: 'list all channels',
    rest: () => ['GET /channels/list'],
    trpc: () => ['query', 'channels.listAll'],
    needs: 'nothing special',
  },
  {
    name: 'ask for the cursor of events',
    rest: () => ['GET /channels/events/cursor'],
    trpc: () => ['query', 'channels.cursor'],
    needs: 'nothing special',
  },
  {
    name: 'create a channel',
    rest: () => ['POST /channels/create', { name: 'another' }],
    trpc: () => ['mutation', 'channels.create', { name: 'another' }],
    needs: 'make channels',
    kinds: ['standard'],
  },
  {
    name: 'get the channel',
    rest: ({ channelId }) => [`GET /channels/${channelId}`],
    trpc: ({ channelId: id }) => ['query', 'channels.get', { id }],
    needs: 'read',
    kinds: GRANT_KINDS,
  },
  {
    name: 'update the channel',
    rest: ({ channelId }) => [`POST /channels/${channelId}/update`, { name: 'changed' }],
    trpc: ({ channelId: id }) => ['mutation', 'channels.update', { id, name: 'changed' }],
    needs: 'manage',
    kinds: GRANT_KINDS,
  },
  {
    name: 'delete the channel',
    rest: ({ channelId }) => [`DELETE /channels/${channelId}/delete`],
    trpc: ({ channelId: id }) => ['mutation', 'channels.delete', { id }],
    needs: 'manage',
    kinds: GRANT_KINDS,
  },
];

const MESSAGE_ACTIONS: Action[] = [
  {
    name: 'list messages',
    rest: ({ channelId }) => [`GET /channels/${channelId}/messages`],
    trpc: ({ channelId: id }) => ['query', 'messages.list', { id }],
    needs: 'read',
  },
  {
    name: 'list what is pinned',
    rest: ({ channelId }) => [`GET /channels/${channelId}/messages/pinned`],
    trpc: ({ channelId: id }) => ['query', 'messages.pinned', { id }],
    needs: 'read',
  },
  {
    name: 'post',
    rest: ({ channelId }) => [`POST /channels/${channelId}/messages/post`, { content: 'new' }],
    trpc: ({ channelId: id }) => ['mutation', 'messages.post', { id, content: 'new' }],
    needs: 'write',
  },
  {
    name: 'reply in a thread',
    rest: ({ channelId, othersId }) => [
      `POST /channels/${channelId}/messages/post`,
      { content: 'new', parent_id: othersId },
    ],
    trpc: ({ channelId: id, othersId }) => [
      'mutation',
      'messages.post',
      { id, content: 'new', parent_id: othersId },
    ],
    needs: 'write',
  },
  onMessage('get a message', 'read', 'othersId', ['GET', ''], 'messages.get'),
  onMessage('get the data of a message', 'read', 'othersId', ['GET', '/data'], 'messages.data'),
  onMessage('read a thread', 'read', 'othersId', ['GET', '/thread'], 'messages.thread'),
  onMessage('pin', 'read', 'othersId', ['POST', '/pin'], 'messages.pin', { is_pinned: true }),
  onMessage('react', 'write', 'othersId', ['POST', '/reactions/add'], 'reactions.add', { name: '👍' }),
  onMessage('take a reaction back', 'write', 'othersId', ['POST', '/reactions/remove'], 'reactions.remove', {
    name: '👍',
  }),
  onMessage("edit the author's message", 'author', 'ownId', ['POST', '/update'], 'messages.update', edit),
  onMessage("delete the author's message", 'author', 'ownId', ['DELETE', '/delete'], 'messages.delete'),
  onMessage(
    'edit what one who left wrote',
    'former author',
    'leftId',
    ['POST', '/update'],
    'messages.update',
    edit,
  ),
  onMessage(
    'delete what one who left wrote',
    'former author',
    'leftId',
    ['DELETE', '/delete'],
    'messages.delete',
  ),
];

export const ACTIONS: Action[] = [...CHANNEL_ACTIONS, ...MESSAGE_ACTIONS];

/** The actions that a kind of channel knows. */
export const actionsOn = (kind: Kind) => ACTIONS.filter(({ kinds }) => !kinds || kinds.includes(kind));
