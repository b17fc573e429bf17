import { randomUUID } from 'node:crypto';
import { DEFAULT_LIMITS } from '../../access/access.terms.ts';
import type { ConfigStore } from '../../configs/configs.store.ts';
import { createLimit, type SharedStore } from '../../core/limits/limits.ts';
import { toNetwork } from '../../core/limits/network.ts';
import type { RequestInfo } from '../../core/scope.ts';
import type { Secret } from '../../core/secrets/keys.ts';
import { createDeviceTokens } from './devices.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly signinLimit: SigninLimit;
  }
}

const SIGNIN = { points: 5, seconds: 180 };
/** Failed sign-ins from one network address. A whole office can share one address. */
const FAILURES = { points: DEFAULT_LIMITS.failed_signins, seconds: 180 };
const SIGNUPS = { points: DEFAULT_LIMITS.signups_per_hour, seconds: 3600 };
const CHANGES = { points: DEFAULT_LIMITS.password_changes, seconds: 180 };
/** Failures that the audit log accepts. More entries add no information. */
const NOTED = { points: 1000, seconds: 3600 };

const TOO_MANY = 'Too many sign-in attempts for this address.';

type Caller = Pick<RequestInfo, 'ip' | 'device' | 'isFromTool'>;

/** A started sign-in attempt. */
export interface Attempt {
  /**
   * Counts a password attempt against a subject, whichever directory knows it: five in three minutes for an
   * address, from all callers together. A device from which the address has signed in before has five of its
   * own, so that attempts from other devices cannot lock the owner out.
   *
   * @param subject a folded address, or another name under which the device was registered
   * @throws rate_limited with the seconds to wait
   */
  about(subject: string): Promise<void>;
  /** Undoes the count: the failure was not the caller's. */
  giveBack(): Promise<void>;
}

export interface SigninLimit {
  /**
   * Counts one attempt to change a password, successful or not.
   *
   * @param userId the account
   * @throws rate_limited with the seconds to wait after the fifth within three minutes, unless another number
   *   is configured
   */
  changePassword(userId: string): Promise<void>;
  /**
   * Counts a sign-in attempt, by any method, as a failure until it succeeds: thirty in three minutes for a
   * network address.
   *
   * @throws rate_limited with the seconds to wait
   */
  begin(caller: Caller): Promise<Attempt>;
  /** Counts one sign-up from a network address. @throws rate_limited */
  signUp(caller: Caller): Promise<void>;
  /** Whether the audit log accepts another failure. Sign-in is open to all, and must not fill the log. */
  mayNoteFailure(): Promise<boolean>;
  /**
   * The cookie that registers the device of a successful sign-in. A known device keeps its id, and so its
   * count; otherwise each sign-in would give five new attempts.
   *
   * @param subject the key under which the attempt was counted
   * @param byPassword whether a password was tried; this attempt is then the first of a new device's five
   */
  nameDevice(caller: Caller, subject: string, byPassword: boolean): Promise<string>;
}

export interface SigninLimitOptions {
  shared: SharedStore;
  secret: Secret;
  configs: Pick<ConfigStore, 'current'>;
  /**
   * Whether the addresses of callers behind proxies are known. Otherwise one local address may stand for all
   * callers.
   */
  knowsProxies: boolean;
}

/** The limits for callers that are not signed in. */
export function createSigninLimit({
  shared,
  secret,
  configs,
  knowsProxies,
}: SigninLimitOptions): SigninLimit {
  const addresses = createLimit('signin', SIGNIN, shared);
  const failures = createLimit('signin-failures', FAILURES, shared);
  const signups = createLimit('signup', SIGNUPS, shared);
  const changes = createLimit('password', CHANGES, shared);
  const noted = createLimit('signin-noted', NOTED, shared);
  const devices = createDeviceTokens(secret);
  const limits = () => configs.current.limits;

  const networkOf = (caller: Caller) => networkToCount(caller, knowsProxies);

  return {
    changePassword: (userId) =>
      changes.take(userId, 'Too many attempts to change the password.', limits()?.password_changes),
    async begin(caller) {
      const network = await networkOf(caller);
      // Counted before the result is known, so that concurrent attempts cannot exceed the limit.
      if (network !== null)
        await failures.take(network, 'Too many failed sign-ins from your network.', limits()?.failed_signins);
      return {
        async about(subject) {
          const device = caller.device ? await devices.read(caller.device, subject) : null;
          const counted = device === null ? `signin:${subject}` : `device:${device}`;
          await addresses.take(counted, TOO_MANY);
        },
        async giveBack() {
          if (network !== null) await failures.giveBack(network);
        },
      };
    },
    async signUp(caller) {
      const network = await networkOf(caller);
      if (network !== null)
        await signups.take(network, 'Too many sign-ups from your network.', limits()?.signups_per_hour);
    },
    mayNoteFailure: () =>
      noted.take('all', '').then(
        () => true,
        () => false,
      ),
    async nameDevice({ device }, subject, byPassword) {
      const known = device ? await devices.read(device, subject) : null;
      const id = known ?? randomUUID();
      if (known === null && byPassword) await addresses.take(`device:${id}`, TOO_MANY);
      return devices.sign(subject, id);
    },
  };
}

/**
 * The network address to count. Null if the address may stand for many callers: a proxy on this machine
 * that is not configured. Tools on this machine are not proxies.
 */
async function networkToCount({ ip, isFromTool }: Caller, knowsProxies: boolean): Promise<string | null> {
  const network = toNetwork(ip);
  const mayBeProxy = network === 'loopback' && !knowsProxies && !(await isFromTool?.());
  return mayBeProxy ? null : network;
}
