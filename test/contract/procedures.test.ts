import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LEVELS } from '../../src/core/access.ts';
import { joinShapes } from '../../src/core/schema/schema.ts';
import { buildDocument, renderDocument } from '../../src/doors/docs/docs.document.ts';
import { PLAIN_PATHS } from '../../src/doors/docs/docs.paths.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';

const procedures = listProcedures(appRouter);
/** The internal form of tRPC: the middlewares of a procedure; that of a base carries its level. */
const PROCEDURES = appRouter._def.procedures as unknown as Record<
  string,
  { _def: { middlewares: { level?: string }[] } }
>;
const pathsOf = (rule: (procedure: (typeof procedures)[number]) => boolean) =>
  procedures.filter(rule).map(({ path }) => path);

/** Procedures without credentials. Adding a name here needs a decision. */
const OPEN = [
  'auths.signIn',
  'auths.signUp',
  'configs.changelog',
  'configs.client',
  'configs.version',
  'ldap.signIn',
  'oauth.exchange',
  'webhooks.post',
];

/** Procedures that no API key may call. */
const SIGNED_IN = [
  'apiKeys.create',
  'apiKeys.delete',
  'apiKeys.deleteDefault',
  'apiKeys.deleteOf',
  'apiKeys.getDefault',
  'apiKeys.list',
  'apiKeys.listOf',
  'apiKeys.replaceDefault',
  'auths.changePassword',
  'auths.signOut',
  'auths.signOutByGet',
  'oauth.sessionsOf',
  'push.subscribe',
  'sessions.end',
  'sessions.endAll',
  'sessions.endAllOf',
  'sessions.endOf',
  'sessions.list',
  'sessions.listOf',
  'sessions.revokeOf',
];

/**
 * Procedures that are deliberately neither in REST nor a subscription; imports have a plain route at REST.
 */
const TRPC_ONLY = ['toolImport.file'];

describe('every procedure', () => {
  it('declares its access rule, and has a base that enforces a level', () => {
    expect(procedures.length).toBeGreaterThan(10);
    expect(pathsOf(({ meta }) => !meta?.access || !meta.level)).toEqual([]);
  });

  it('declares the level that its base enforces', () => {
    const levels: readonly string[] = LEVELS;
    const other = pathsOf(({ meta }) => !!meta && levels.includes(meta.access) && meta.access !== meta.level);
    expect(other).toEqual([]);
    expect(pathsOf(({ meta }) => meta?.level === 'open' && meta.access !== 'open')).toEqual([]);
  });

  it('begins with the check of its level, once, before its input is read', () => {
    const asked = Object.entries(PROCEDURES).map(([path, { _def }]) => [
      path,
      _def.middlewares.map(({ level }) => level).filter((level, at) => at === 0 || level !== undefined),
    ]);
    expect(asked).toEqual(procedures.map(({ path, meta }) => [path, [meta?.level]]));
  });

  it('that concerns credentials requires a sign-in', () => {
    expect(pathsOf(({ meta }) => meta?.credential === 'session').toSorted()).toEqual(SIGNED_IN);
  });

  it('declares its output, which prevents leaks', () => {
    expect(pathsOf(({ type, output }) => type !== 'subscription' && !output)).toEqual([]);
  });

  it('is in REST, a subscription, or meant for tRPC only', () => {
    const elsewhere = pathsOf(({ type, meta }) => !meta?.openapi && type !== 'subscription');
    expect(elsewhere).toEqual(TRPC_ONLY);
    expect(pathsOf(({ type, meta }) => type === 'subscription' && meta?.openapi !== undefined)).toEqual([]);
  });

  it('changes nothing by GET', () => {
    expect(pathsOf(({ type, meta }) => meta?.openapi?.method === 'GET' && type !== 'query')).toEqual([]);
  });

  it('has a summary and a tag', () => {
    expect(
      pathsOf(({ meta }) => !!meta?.openapi && !(meta.openapi.summary && meta.openapi.tags?.length)),
    ).toEqual([]);
  });

  it('requires an account, with few exceptions', () => {
    expect(pathsOf(({ meta }) => meta?.access === 'open' || meta?.level === 'open').toSorted()).toEqual(OPEN);
  });

  it('accepts lastEventId when it is a subscription; otherwise a reconnect replays everything', () => {
    const takesIt = ({ inputs }: (typeof procedures)[number]) =>
      joinShapes(inputs)?.has('lastEventId') ?? false;
    expect(pathsOf((procedure) => procedure.type === 'subscription' && !takesIt(procedure))).toEqual([]);
  });
});

interface Operation {
  operationId?: string;
  description?: string;
  tags?: string[];
  parameters?: { name: string; description?: string }[];
}

describe('openapi/openapi.json', () => {
  it('matches the procedures; after a change run: npm run openapi', () => {
    const committed = readFileSync(new URL('../../openapi/openapi.json', import.meta.url), 'utf8');
    expect(renderDocument(buildDocument(appRouter, PLAIN_PATHS))).toBe(committed);
  });

  it('describes every operation: its effect, its changes, its refusals', () => {
    const { paths } = JSON.parse(renderDocument(buildDocument(appRouter, PLAIN_PATHS)));
    const operations = Object.values<Record<string, Operation>>(paths).flatMap((path) => Object.values(path));
    const missing = operations.filter(({ operationId, description }) => operationId && !description);
    expect(missing.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('describes every tag and every parameter; see src/doors/docs/docs.words.ts', () => {
    const { paths, tags } = JSON.parse(renderDocument(buildDocument(appRouter, PLAIN_PATHS)));
    const described = new Set(tags.map(({ name }: { name: string }) => name));
    const missing: string[] = [];
    for (const [path, operations] of Object.entries<Record<string, Operation>>(paths)) {
      for (const [method, { tags: own = [], parameters = [] }] of Object.entries(operations)) {
        const where = `${method.toUpperCase()} ${path}`;
        for (const tag of own) if (!described.has(tag)) missing.push(`${where}: tag ${tag}`);
        for (const { name, description } of parameters) if (!description) missing.push(`${where}: ${name}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('shows the patterns and limits of our own checks', () => {
    const { paths } = JSON.parse(renderDocument(buildDocument(appRouter, PLAIN_PATHS)));
    const bodyOf = (path: string) =>
      paths[path].post.requestBody.content['application/json'].schema.properties as Record<string, object>;
    expect(bodyOf('/auths/signup')).toMatchObject({
      name: { pattern: expect.stringContaining('u2028'), minLength: 1 },
      email: { pattern: expect.stringContaining('@') },
      password: { minLength: 1, maxLength: 128 },
      profile_image_url: { pattern: expect.stringContaining('data:image') },
    });
    expect(bodyOf('/tools/create').id).toMatchObject({ pattern: '^[A-Za-z0-9_]+$', maxLength: 256 });
    expect(bodyOf('/tools/load/url').url).toMatchObject({ pattern: '^https?://' });
  });

  it('contains the target of every reference', () => {
    const text = renderDocument(buildDocument(appRouter, PLAIN_PATHS));
    const { components } = JSON.parse(text);
    const references = [...text.matchAll(/"\$ref": "#\/components\/(\w+)\/([^"]+)"/g)];
    expect(references).toHaveLength(text.split('"$ref"').length - 1);
    const missing = references.filter(([, kind = '', name = '']) => !components[kind]?.[name]);
    expect(missing.map(([reference]) => reference)).toEqual([]);
    expect(references.map(([, , name]) => name)).toContain('ToolListing');
  });
});
