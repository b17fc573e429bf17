import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Reach } from './access.ts';
import type { Outlet } from './subscription.ts';

export type Role = 'admin' | 'user' | 'pending';

/** Who makes a call, as the credentials showed. Cached for seconds, so it holds nothing that is not dropped on change. */
export interface Actor {
  readonly id: string;
  readonly role: Role;
  readonly name: string;
  readonly email: string;
  /** The session that the credential names; null for an API key. */
  readonly sessionId: string | null;
  /** The API key that was shown; null for a session. */
  readonly keyId: string | null;
  /** The names of the permissions that their groups give them, beyond what everybody has. */
  readonly granted: readonly string[];
  /** When the credential ends by itself, Unix seconds; null when it does not. */
  readonly expiresAt: number | null;
}

/** What a door found on the way in; nothing here is verified yet. */
export interface Credentials {
  readonly token: string;
  /** `cookie` is sent by a browser on its own, so a change that carries only it needs a same-origin proof. */
  readonly via: 'bearer' | 'cookie' | 'connection';
}

/** The call's surroundings, for logs, limits and audit. */
export interface RequestInfo {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string;
  /** Whether the caller may be a tool, for callers with an address of this machine. */
  isFromTool?(): Promise<boolean>;
  /** What the device keeps by which it is known again (`auth/limits/devices.ts`); not verified. */
  readonly device?: string | undefined;
  /** True when the browser says that the page which sent this has our own origin. */
  readonly sameOrigin: boolean;
  /** Where the caller reached this service, as browsers name origins. The caller says so; may be no origin at all. */
  readonly origin?: string | undefined;
}

/** What a door lets a call say beside its result. Doors without cookies ignore it. */
export interface Reply {
  setSession(token: string | null, expiresAt: number | null): void;
  /** What the device is to keep, so that it is known again; see `RequestInfo`. */
  setDevice?(token: string): void;
  /** Members of the call's input that were left out, besides those that no schema knows. */
  nameIgnored?(names: string[]): void;
  /** Dotted paths of the settings that the call changed. */
  nameChanged?(paths: string[]): void;
  /** What a subscription's items go through; absent where nothing is streamed. */
  readonly outlet?: Outlet;
  /** The reply of one subscription: its outlet sends under the number of the call, which the door noted on the input. */
  forCall?(rawInput: unknown): Reply;
  /** Tells that a call has begun, where a caller could begin any number at once. Returns how to tell that it has ended. */
  begin?(): () => void;
  /** Told each time whose the credentials of the connection are, also where they may not do what a call asks. */
  identified?(actor: Actor): void;
}

/**
 * What one process has once; `app.ts` builds it. A folder with process-wide state adds its member by augmenting
 * this interface, so that the core imports no other folder.
 */
export interface Parts {
  readonly orm: MikroORM;
  readonly log: Logger;
  /** The secret that every key is derived from (`deriveKey`). */
  readonly secret: string;
  readonly authenticate: Authenticate;
}

/**
 * Resolves credentials to who they belong to, and refuses what they may not reach.
 *
 * @param reach is asked only of credentials that are bound to some paths; null where the call is not known yet, and asks again
 * @param identified is told whose they are as soon as that is known, so before a refusal by 403
 * @throws unauthenticated for wrong, expired or revoked ones, and 403 for API keys that may not be used, or not here
 */
export type Authenticate = (
  credentials: Credentials,
  request: RequestInfo,
  reach: (() => Reach | Promise<Reach>) | null,
  identified?: Reply['identified'],
) => Actor | Promise<Actor>;

type Identify = (besides?: Reach) => Promise<Actor>;

/** What a service gets with every call. */
export interface Scope<A extends Actor | null = Actor> extends Parts {
  /** The unit of work of this call alone. */
  readonly em: EntityManager;
  readonly actor: A;
  readonly request: RequestInfo;
  readonly reply: Reply;
  /**
   * Resolves the call's credentials anew, for what lives longer than a call. A call that leads to others says what these reach besides.
   *
   * @throws unauthenticated, endpoint_forbidden for an API key that may not
   */
  readonly identify: Identify;
  /** Ends when the caller has gone away. */
  readonly signal: AbortSignal | undefined;
}

/** A change that is logged and told: by a call, or by a command of the shell, which has no request. */
export type ActingScope = Pick<Scope, 'actor' | 'bus'> & { readonly request?: Pick<RequestInfo, 'ip'> };

export interface ScopeSources<A extends Actor | null> {
  parts: Parts;
  actor: A;
  request: RequestInfo;
  reply: Reply;
  identify: Identify;
  signal: AbortSignal | undefined;
}

/** Builds the scope of one call. The entity manager is forked at first use: most reads never need one. */
export function createScope<A extends Actor | null>(sources: ScopeSources<A>): Scope<A> {
  const { parts, actor, request, reply, identify, signal } = sources;
  let em: EntityManager | undefined;
  return {
    ...parts,
    actor,
    request,
    reply,
    identify,
    signal,
    get em() {
      em ??= parts.orm.em.fork();
      return em;
    },
  };
}
