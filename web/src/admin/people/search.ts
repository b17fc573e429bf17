import { ROLES, type Role } from './RoleBadge.tsx';

/** Orders of the list, as the server names them. */
const ORDERS = ['name', 'role', 'last_active_at'] as const;
type Order = (typeof ORDERS)[number];

/** What the list of people shows; it stands in the address, so that a way back finds it again. */
export interface PeopleSearch {
  q?: string;
  by?: Order;
  direction?: 'asc' | 'desc';
  role?: Role;
}

export function searchOf({ q, by, direction, role }: Record<string, unknown>): PeopleSearch {
  const one = ROLES.find((name) => name === role);
  const order = ORDERS.find((name) => name === by);
  return {
    ...(typeof q === 'string' && q !== '' && { q }),
    ...(order && { by: order }),
    ...((direction === 'asc' || direction === 'desc') && { direction }),
    ...(one && { role: one }),
  };
}
