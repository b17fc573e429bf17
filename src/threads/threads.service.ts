import type { Scope } from '../core/scope.ts';
import { readThreads, type ThreadQuery } from './threads.repository.ts';
import type { ThreadView } from './threads.schema.ts';

/**
 * The threads that the caller began, replied to or was mentioned in by name, in channels that the caller may
 * read, the newest reply first. A thread with a deleted root stays.
 */
export const listThreads = (scope: Scope, query: ThreadQuery): Promise<ThreadView[]> =>
  readThreads(scope.sql, scope.actor, query);
