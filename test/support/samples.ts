import { listProcedures, type Procedure } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { NOWHERE } from './doors.ts';
import type { Outcome } from './sockets.ts';

/**
 * One procedure for each kind of base. `test/contract/procedures.test.ts` checks that each procedure begins
 * with its base, so what the base does for the sample holds for all procedures of the kind.
 */
interface Sample {
  path: string;
  input: Record<string, unknown>;
  /** The answer to callers who are admitted. */
  admitted: Outcome;
}

const DONE = { status: 200, code: undefined };
const NOT_FOUND = { status: 404, code: 'not_found' };
/** Admitted, since the input is checked only then. */
const UNFIT = { status: 400, code: 'validation' };

const SAMPLES: Record<string, Sample> = {
  'open query': { path: 'configs.version', input: {}, admitted: DONE },
  'open mutation': { path: 'auths.signIn', input: {}, admitted: UNFIT },
  'account query': { path: 'auths.whoAmI', input: {}, admitted: DONE },
  'account mutation': {
    path: 'profile.updateTimezone',
    input: { timezone: 'Europe/Berlin' },
    admitted: DONE,
  },
  'account query session': { path: 'sessions.list', input: {}, admitted: DONE },
  'account mutation session': { path: 'auths.changePassword', input: {}, admitted: UNFIT },
  'member query': { path: 'channels.list', input: {}, admitted: DONE },
  'member query changes': { path: 'channels.direct', input: { user_id: NOWHERE }, admitted: NOT_FOUND },
  'member query session': { path: 'apiKeys.list', input: {}, admitted: DONE },
  'member mutation': { path: 'settings.update', input: { settings: {} }, admitted: DONE },
  'member mutation session': {
    path: 'apiKeys.delete',
    input: { id: NOWHERE },
    admitted: NOT_FOUND,
  },
  'member subscription': { path: 'channels.events', input: {}, admitted: DONE },
  'administrator query': { path: 'users.list', input: {}, admitted: DONE },
  'administrator query session': { path: 'sessions.listOf', input: { id: NOWHERE }, admitted: DONE },
  'administrator mutation': { path: 'groups.create', input: {}, admitted: UNFIT },
  'administrator mutation session': { path: 'sessions.endAllOf', input: { id: NOWHERE }, admitted: DONE },
};

/** These end the session that a sweep uses; `test/auth/revocation.test.ts` tests them. */
export const ENDING = ['auths.signOut', 'auths.signOutByGet', 'sessions.endAll'];

export const procedures = listProcedures(appRouter).filter(({ path }) => !ENDING.includes(path));

const kindOf = ({ type, meta }: Procedure): string =>
  [meta?.level, type, meta?.changes && 'changes', meta?.credential].filter(Boolean).join(' ');

/** Every existing kind. A kind without a sample fails. */
export const kinds = [...new Set(procedures.map(kindOf))].toSorted().map((kind) => {
  const { path, input, admitted } = SAMPLES[kind] ?? {};
  const procedure = procedures.find((one) => one.path === path);
  if (!procedure || !input || !admitted || kindOf(procedure) !== kind)
    throw new Error(`No procedure is the sample of ${kind}.`);
  const doorCount = procedure.type === 'subscription' ? 1 : 3;
  return { kind, procedure, input, admitted, doorCount };
});
