import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** The permissions that groups give these people have changed; null for all people. */
    'groups.changed': { userIds: string[] | null };
  }
}

export const noSuchGroup = () => new AppError('not_found', { detail: 'There is no such group.' });

/** A change for more people than this is announced as a change for all. */
const NAMED_PEOPLE = 1000;

/** Makes every process check again what people may do, also on open sockets. */
export function tellMembers({ bus }: Pick<Scope, 'bus'>, userIds: string[]): void {
  if (userIds.length === 0) return;
  bus.publish('groups.changed', { userIds: userIds.length > NAMED_PEOPLE ? null : userIds });
}
