/** The filters of the audit log. They stand in the address, so that other views lead to entries. */
export interface AuditSearch {
  /** The id of an account. */
  actor?: string;
  /** `user`, or `user.role`. */
  action?: string;
  /** `user`, or `user:<id>`. */
  target?: string;
  /** Days, `2026-11-23`. */
  from?: string;
  to?: string;
}

const NAMES = ['actor', 'action', 'target', 'from', 'to'] as const;

export const searchOf = (search: Record<string, unknown>): AuditSearch =>
  Object.fromEntries(
    NAMES.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );

const DAY_SECONDS = 24 * 60 * 60;

/** The filters as the server takes them; a day begins at midnight here. */
export function inputOf({ actor, action, target, from, to }: AuditSearch) {
  return {
    ...(actor && { actor }),
    ...(action && { action }),
    ...(target && { target }),
    ...(from && { after: midnightOf(from) }),
    ...(to && { before: midnightOf(to) + DAY_SECONDS }),
  };
}

const midnightOf = (day: string): number => new Date(`${day}T00:00:00`).getTime() / 1000;
