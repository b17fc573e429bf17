/**
 * Who may call a procedure, as data on the endpoint: enforced by the base procedures of `trpc.ts`, exported to the
 * OpenAPI document, and swept by tests.
 *
 * - `open`: anyone, signed in or not
 * - `account`: any account, `pending` included (who am I, sign out, change the password)
 * - `member`: an account that an administrator has let in
 * - `administrator`
 */
export const LEVELS = ['open', 'account', 'member', 'administrator'] as const;
export type Level = (typeof LEVELS)[number];

/**
 * What an endpoint declares: its level, or the finer rule that its service enforces on top of `member`: a grant on a
 * resource (`channel.write`) or a named permission (`permission:workspace.tools`).
 */
export type Access = Level | `${string}.${'read' | 'write' | 'manage'}` | `permission:${string}`;

/**
 * What a call reaches, whatever door it came in by: paths as under `/api` without the version, cut at their slashes. To be allowed
 * one of several is enough. An API key may be bound to some paths; a path of the request itself says nothing, since a procedure is
 * reached by many.
 */
export type Reach = readonly (readonly string[])[];

/** Cuts a path at its slashes. */
export const cutPath = (path: string): string[] => path.split('/').filter((segment) => segment !== '');
