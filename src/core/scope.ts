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
  /** Null for an API key. */
  readonly sessionId: string | null;
  /** Null for a session. */
  readonly keyId: string | null;
  /** The permissions that the groups of the person give, beyond the permissions of all accounts. */
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

/** How a request came in, for its trace. */
export interface Arrival {
  /** Absent for a socket. */
  readonly method?: string | undefined;
  /** The pattern of the path, never the path. */
  readonly route: string | undefined;
  /** The header of the W3C trace context; not verified. */
  readonly traceparent?: string | undefined;
  /** Whether a trusted proxy has sent the request. */
  readonly isFromProxy: boolean;
}

/** The call's surroundings, for logs, limits, traces and audit. */
export interface RequestInfo {
  readonly id: string;
  readonly ip: string;
  readonly userAgent: string;
  /** Whether the caller may be a tool, for callers with an address of this machine. */
  isFromTool?(): Promise<boolean>;
  /** The mark by which the device is recognised (`auth/limits/devices.ts`); not verified. */
  readonly device?: string | undefined;
  /** True when the browser states that the sending page has our own origin. */
  readonly sameOrigin: boolean;
  /** Absent for a call without a request, such as a model's reply. */
  arrival?(): Arrival;
  /** The origin under which the caller reached this service, as the caller states it; may be malformed. */
  readonly origin?: string | undefined;
}

/** The means of a call to answer beside its result. Doors without cookies ignore `setSession`. */
export interface Reply {
  setSession(token: string | null, expiresAt: number | null): void;
  /** Stores the mark of the device; see `RequestInfo`. */
  setDevice?(token: string): void;
  /** Names members of the input that were ignored, besides the unknown ones. */
  nameIgnored?(names: string[]): void;
  /** Names the settings that the call changed, as dotted paths. */
  nameChanged?(paths: string[]): void;
  /** The outlet for items of subscriptions; absent at doors without subscriptions. */
  readonly outlet?: Outlet;
  /** The reply for one subscription: its outlet sends under the number of the call, which the door noted on the input. */
  forCall?(rawInput: unknown): Reply;
  /** Called at the start of a call, at doors where one connection has many calls. Returns a function for its end. */
  begin?(): () => void;
  /** Gets the account of the credentials at each call, also when the call is then refused. */
  identified?(actor: Actor): void;
}

/**
 * The parts of one process; `app.ts` builds them. A folder with process-wide state adds its member by augmenting
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
 * Resolves credentials to an account, and refuses paths that they may not reach.
 *
 * @param reach read only for credentials that are bound to some paths; null before the call is known, which checks again
 * @param identified gets the account before a refusal by 403
 * @throws unauthenticated for wrong, expired or revoked credentials, and 403 for API keys that may not be used, or not here
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
   * Resolves the call's credentials anew, for work that outlives a call. A call that leads to others names the paths of those as well.
   *
   * @throws unauthenticated, endpoint_forbidden for an API key that may not
   */
  readonly identify: Identify;
  /** Aborts when the caller has gone away. */
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
export const createScope = <A extends Actor | null>(sources: ScopeSources<A>): Scope<A> =>
  new (scopeOver(sources.parts))(sources) as unknown as Scope<A>;

/** The same call with another caller or another way to answer. It has a unit of work of its own. */
export function derivedScope<A extends Actor | null>(
  scope: Scope<Actor | null>,
  changes: { actor: A } & Partial<Pick<Scope, 'reply'>>,
): Scope<A> {
  const { request, reply, identify, signal } = scope;
  const Same = scope.constructor as ReturnType<typeof makeClass>;
  return new Same({ request, reply, identify, signal, ...changes }) as unknown as Scope<A>;
}

const classes = new WeakMap<Parts, ReturnType<typeof makeClass>>();

function scopeOver(parts: Parts): ReturnType<typeof makeClass> {
  let known = classes.get(parts);
  if (!known) {
    known = makeClass(parts);
    classes.set(parts, known);
  }
  return known;
}

/** Scopes inherit the parts: a copy of some forty members for each call would take 10 µs and 3 KB. */
function makeClass(parts: Parts) {
  const Inherited = class {};
  Object.setPrototypeOf(Inherited.prototype, parts);
  return class extends Inherited {
    readonly actor: Actor | null;
    readonly request: RequestInfo;
    readonly reply: Reply;
    readonly identify: Identify;
    readonly signal: AbortSignal | undefined;
    #em: EntityManager | undefined;

    constructor({ actor, request, reply, identify, signal }: Omit<ScopeSources<Actor | null>, 'parts'>) {
      super();
      this.actor = actor;
      this.request = request;
      this.reply = reply;
      this.identify = identify;
      this.signal = signal;
    }

    get em(): EntityManager {
      this.#em ??= parts.orm.em.fork();
      return this.#em;
    }
  };
}
