/**
 * The level that a procedure requires, as data on the endpoint: enforced by the base procedures of `trpc.ts`,
 * exported to the OpenAPI document, and checked by tests.
 *
 * - `open`: every caller, signed in or not
 * - `account`: every account, `pending` included (who am I, sign out, change the password)
 * - `member`: an account that an administrator has admitted
 * - `administrator`
 */
export const LEVELS = ['open', 'account', 'member', 'administrator'] as const;
export type Level = (typeof LEVELS)[number];

/**
 * The access that an endpoint declares: its level, or the finer rule that its service enforces beyond
 * `member`: a grant on a resource (`channel.write`) or a named permission (`permission:workspace.tools`).
 */
export type Access = Level | `${string}.${'read' | 'write' | 'manage'}` | `permission:${string}`;

/**
 * The paths that a call counts as, at every door: paths under `/api` without the version, split at slashes.
 * Permission for one of several is enough. An API key may be bound to some paths. The path of the request
 * itself is not used, because a procedure can be reached by several.
 */
export type Reach = readonly (readonly string[])[];

/** Splits a path at its slashes. */
export const cutPath = (path: string): string[] => path.split('/').filter((segment) => segment !== '');
