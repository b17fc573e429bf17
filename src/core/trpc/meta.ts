import type { OpenApiMeta } from 'trpc-to-openapi';
import type { Access, Level } from '../access.ts';

/** What the REST bridge needs beyond `trpc-to-openapi`'s own meta. */
interface RestMeta {
  /** Status of success; 200 unless told. */
  status?: 201;
  /** The REST body is this input member itself, a free-form object, and not an object that holds it. */
  bodyMember?: string;
  /** With `bodyMember`: a body that is an object with that one member is taken as the tRPC input itself. */
  acceptWrapped?: true;
  /** The path answers without a prefix, too, where clients of comparable systems look for it. */
  isAtRoot?: true;
  /** Members that the query of an operation with a body may give, where clients of comparable systems send them there: ids alone. */
  query?: readonly string[];
}

export interface Meta {
  openapi?: NonNullable<OpenApiMeta['openapi']> & RestMeta;
  /** The declared rule; see `Access`. */
  access: Access;
  /** Set by the base procedure: the level that is enforced before the input is read. */
  level?: Level;
  /** A query that may change something, because clients of comparable systems send one: the rules of a mutation hold. */
  changes?: true;
  /** The most bytes that a body may have; computed from the input unless given. */
  bodyBytes?: number;
  /** A mutation that is allowed on a full disk: it frees room, or takes little and is needed then. */
  whenFull?: true;
  /** Only a session may do this, no API key. */
  credential?: 'session';
  /** The call goes on without an actor when credentials are missing or have ended. */
  withoutActor?: true;
  /** The paths that count for an API key that is bound to some; the path of `openapi` unless given. */
  reaches?: readonly string[];
}

/** Whether a mutation is allowed on a full disk. Operations of administrators take little room, and may be needed to free some. */
export const isWhenFull = (meta: Meta | undefined, level = meta?.level): boolean =>
  meta?.whenFull ?? (meta?.openapi?.method === 'DELETE' || level === 'administrator');
