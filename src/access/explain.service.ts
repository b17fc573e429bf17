import { allows, cutName, defaultPermissions } from '../configs/settings/permissions.ts';
import { AppError, noSuchUser } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { ResourceType } from './access.schema.ts';
import { type ResourceFacts, readPermissionFacts, readResourceFacts } from './explain.repository.ts';
import type { ExplainInput, Explanation, Rule } from './explain.schema.ts';

type Verdict = Omit<Explanation, 'user_id'>;

const verdict = (allowed: boolean, rule: Rule, detail: string, because: Partial<Verdict> = {}): Verdict => ({
  allowed,
  rule,
  detail,
  groups: [],
  grants: [],
  ...because,
});

const PENDING = verdict(false, 'pending', 'The account waits for the approval of an administrator.');
const BY_ROLE = verdict(true, 'administrator', 'Administrators may.');
const NOTHING = verdict(false, 'none', 'Nothing allows it.');

/**
 * Which rule decides whether an account has a right. Callers may ask about themselves, administrators about all accounts.
 *
 * @throws forbidden, not_found for an unknown account or resource
 */
export async function explainAccess(scope: Scope, input: ExplainInput): Promise<Explanation> {
  const { user_id = scope.actor.id, permission, resource_type: type, resource_id: id, right } = input;
  if (user_id !== scope.actor.id && scope.actor.role !== 'admin') throw new AppError('forbidden');
  if (permission !== undefined) return { user_id, ...(await explainPermission(scope, user_id, permission)) };
  if (!type || !id) throw new AppError('validation');
  return { user_id, ...(await explainResource(scope, user_id, { type, id, right })) };
}

async function explainPermission(scope: Scope, userId: string, permission: string): Promise<Verdict> {
  const facts = await readPermissionFacts(scope.sql, userId, cutName(permission));
  if (!facts) throw noSuchUser();
  const { role, groups } = facts;
  if (role === 'pending') return PENDING;
  if (role === 'admin') return verdict(true, 'administrator', 'Administrators have every permission.');
  if (groups.length > 0) {
    const names = groups.map(({ name }) => name).join(', ');
    return verdict(true, 'group', `Given by their groups: ${names}.`, { groups });
  }
  if (allows(defaultPermissions(scope), permission)) {
    return verdict(true, 'default', 'All members have this permission.');
  }
  return verdict(false, 'none', 'Neither the default permissions nor a group of the account allow this.');
}

interface Wanted {
  type: ResourceType;
  id: string;
  right: 'read' | 'write';
}

async function explainResource(scope: Scope, userId: string, wanted: Wanted): Promise<Verdict> {
  const kind = scope.grantable.find(({ type }) => type === wanted.type);
  if (!kind) throw new AppError('validation');
  const { right } = wanted;
  const id = kind.hasCase ? wanted.id : wanted.id.toLowerCase();
  const facts = await readResourceFacts(scope.sql, userId, { kind, id, right });
  if (!facts) throw noSuchUser();
  if (!facts.is_there) {
    const { role } = facts;
    const open = kind.withoutRow?.(scope, { role, id, right });
    // Members do not learn which things exist that they may not use.
    if (!open || (!open.allowed && scope.actor.role !== 'admin')) {
      throw new AppError('not_found', { detail: `There is no such ${wanted.type}.` });
    }
    if (role === 'pending') return PENDING;
    if (role === 'admin') return BY_ROLE;
    return verdict(open.allowed, open.allowed ? 'default' : 'none', open.detail);
  }
  if (facts.role === 'pending') return PENDING;
  if (wanted.type === 'channel') {
    const { enable } = scope.configs.current.channels;
    if (!enable) return verdict(false, 'barred', 'Channels are switched off.');
    const mayUse = await explainPermission(scope, userId, 'features.channels');
    if (!mayUse.allowed) return verdict(false, 'barred', 'They lack the permission features.channels.');
  }
  const judged = judge(facts);
  const isUse = judged.allowed && right === 'read';
  const barred = isUse ? await kind.barred?.(scope, { id: userId, role: facts.role }, id) : undefined;
  return barred === undefined ? judged : verdict(false, 'barred', barred);
}

/** Applies the rule of the policy, as every call does. The first reason that holds is the answer. */
function judge({ has_members, grounds, grants }: ResourceFacts): Verdict {
  const [ground] = grounds;
  if (!ground) {
    return has_members ? verdict(false, 'none', 'They are not in this channel.') : NOTHING;
  }
  if (ground === 'member') return verdict(true, 'member', 'They are in this channel.');
  if (ground === 'administrator') return BY_ROLE;
  if (ground === 'owner') return verdict(true, 'owner', 'It is theirs.');
  const [first] = grants;
  if (!first) return NOTHING;
  const groups = grants.flatMap(({ principal_type, principal_id, group_name }) =>
    principal_type === 'group' ? [{ id: principal_id, name: group_name ?? '' }] : [],
  );
  const because = { groups, grants: grants.map(({ group_name: _, ...grant }) => grant) };
  if (first.principal_type === 'group') {
    return verdict(
      true,
      'group',
      `Granted to their groups: ${groups.map(({ name }) => name).join(', ')}.`,
      because,
    );
  }
  if (first.principal_id === '*') return verdict(true, 'everyone', 'Granted to everyone.', because);
  return verdict(true, 'grant', 'Granted to them.', because);
}
