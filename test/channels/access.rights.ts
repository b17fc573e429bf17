import type { Outcome } from '../support/sockets.ts';
import type { Kind, Relation } from './people.ts';

/* The rights in each kind of channel, for the tests of all doors. */

/** The rights; each belongs to a set of relations, by kind. */
export type Right =
  | 'without credentials'
  | 'be let in'
  | 'make channels'
  | 'be a member'
  | 'read'
  | 'write'
  | 'manage'
  | 'author'
  | 'former author'
  | 'removed author'
  | 'delete the file';

const ADMINISTRATORS: Relation[] = ['owner', 'administrator', 'insider'];
const WRITERS: Relation[] = [...ADMINISTRATORS, 'founder', 'manager', 'writer'];
const GRANTED: Relation[] = [...WRITERS, 'reader', 'author'];
const EVERYBODY: Relation[] = [...GRANTED, 'left', 'removed', 'stranger'];
const MEMBERS: Relation[] = ['founder', 'manager', 'insider', 'writer', 'author'];

const STANDARD: Record<Right, Relation[]> = {
  'without credentials': [...EVERYBODY, 'pending', 'signedOut', 'revoked'],
  'be let in': EVERYBODY,
  'make channels': ADMINISTRATORS,
  'be a member': [],
  read: GRANTED,
  write: WRITERS,
  manage: [...ADMINISTRATORS, 'founder'],
  author: [...WRITERS, 'author'],
  'former author': WRITERS,
  'removed author': WRITERS,
  'delete the file': [...ADMINISTRATORS, 'author'],
};

/** Administrators manage groups that they may not read. The creator is an ordinary member. */
const GROUP: Record<Right, Relation[]> = {
  ...STANDARD,
  'be a member': MEMBERS,
  read: MEMBERS,
  write: MEMBERS,
  manage: ['manager', ...ADMINISTRATORS],
  author: ['manager', 'insider', 'author'],
  'former author': ['manager', 'insider'],
  'removed author': ['manager', 'insider'],
};

const RIGHTS: Record<Kind, Record<Right, Relation[]>> = {
  standard: STANDARD,
  // Former members may read a public channel, so they still are authors of their messages.
  public: {
    ...STANDARD,
    read: EVERYBODY,
    'former author': [...WRITERS, 'left'],
    'removed author': [...WRITERS, 'removed'],
  },
  group: GROUP,
  // A direct channel has no manager; an administrator among its members may moderate it.
  dm: {
    ...GROUP,
    manage: [],
    author: ['insider', 'author'],
    'former author': ['insider'],
    'removed author': ['insider'],
  },
};

/** The relations that have a right in a kind of channel. */
export const holders = (right: Right, kind: Kind): readonly Relation[] => RIGHTS[kind][right];

/** The relations that receive the events. */
export const hearers = (kind: Kind): readonly Relation[] => holders('read', kind);

export const DONE: Outcome = { status: 200, code: undefined };
export const FORBIDDEN: Outcome = { status: 403, code: 'forbidden' };
export const NOT_FOUND: Outcome = { status: 404, code: 'not_found' };
export const UNFIT: Outcome = { status: 400, code: 'bad_request' };

/** The outcome for callers without a valid account, for every request. */
export const REFUSALS: Partial<Record<Relation, Outcome>> = {
  pending: { status: 401, code: 'account_pending' },
  signedOut: { status: 401, code: 'unauthenticated' },
  revoked: { status: 401, code: 'unauthenticated' },
};
