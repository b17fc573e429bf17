import type { Outcome } from '../support/sockets.ts';
import type { Kind, Relation } from './people.ts';

/*
 * Who may do what in which kind of channel: what the tests of all doors go by.
 */

/** What one can be allowed; each is a set of relations, by kind. */
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

/** Administrators manage groups that they do not read. Whoever made it is a member like any other. */
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
  // Who may read it still is the author of what they wrote.
  public: {
    ...STANDARD,
    read: EVERYBODY,
    'former author': [...WRITERS, 'left'],
    'removed author': [...WRITERS, 'removed'],
  },
  group: GROUP,
  // Nobody is in charge of a direct channel; an administrator who is in it answers for what is said there.
  dm: {
    ...GROUP,
    manage: [],
    author: ['insider', 'author'],
    'former author': ['insider'],
    'removed author': ['insider'],
  },
};

/** Who has a right in a kind of channel. */
export const holders = (right: Right, kind: Kind): readonly Relation[] => RIGHTS[kind][right];

/** Who hears what happens. */
export const hearers = (kind: Kind): readonly Relation[] => holders('read', kind);

export const DONE: Outcome = { status: 200, code: undefined };
export const FORBIDDEN: Outcome = { status: 403, code: 'forbidden' };
export const NOT_FOUND: Outcome = { status: 404, code: 'not_found' };
export const UNFIT: Outcome = { status: 400, code: 'bad_request' };

/** What those are answered who are nobody in particular, whatever they ask for. */
export const REFUSALS: Partial<Record<Relation, Outcome>> = {
  pending: { status: 401, code: 'account_pending' },
  signedOut: { status: 401, code: 'unauthenticated' },
  revoked: { status: 401, code: 'unauthenticated' },
};
