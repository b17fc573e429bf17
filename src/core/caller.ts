/** The account of a call. */
export interface Caller {
  id: string;
  role: string;
}

/** The parameters of a statement that checks the rights of its caller. */
export interface CallerParams {
  callerId: string;
  callerIsAdmin: boolean;
}

export const callerOf = ({ id, role }: Caller): CallerParams => ({
  callerId: id,
  callerIsAdmin: role === 'admin',
});

/** A person whose rights SQL checks; both members are SQL expressions. */
export interface Person {
  id: string;
  isAdmin: string;
}

/** The caller of a statement with `CallerParams`. */
export const CALLER: Person = { id: ':callerId::uuid', isAdmin: ':callerIsAdmin::boolean' };

/** The account of the row `u`. */
export const ACCOUNT: Person = { id: 'u.id', isAdmin: "u.role = 'admin'" };
