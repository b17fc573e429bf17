import type { Scope } from '../core/scope.ts';
import { readThreads, type ThreadQuery } from './threads.repository.ts';
import type { ThreadView } from './threads.schema.ts';

/**
 * The threads that the caller began, replied to or was mentioned in by name, of the channels that they may read, the one with
 * the newest reply first. A thread whose root was deleted stays, as it does in its channel.
 */
export const listThreads = (scope: Scope, query: ThreadQuery): Promise<ThreadView[]> =>
  readThreads(scope.sql, scope.actor, query);
