import { randomUUID } from 'node:crypto';
import type { ConfigStore } from '../../configs/configs.store.ts';
import { DEFAULT_LIMITS } from '../../configs/settings/configs.defaults.ts';
import type { Secret } from '../../core/keys.ts';
import { createLimit, type SharedStore } from '../../core/limits.ts';
import { toNetwork } from '../../core/network.ts';
import type { RequestInfo } from '../../core/scope.ts';
import { createDeviceTokens } from './devices.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly signinLimit: SigninLimit;
  }
}

const SIGNIN = { points: 5, seconds: 180 };
/** Failed ones from one network address; whole offices share one. */
const FAILURES = { points: DEFAULT_LIMITS.failed_signins, seconds: 180 };
const SIGNUPS = { points: DEFAULT_LIMITS.signups_per_hour, seconds: 3600 };
const CHANGES = { points: DEFAULT_LIMITS.password_changes, seconds: 180 };
/** Failures that the audit log keeps; more tell nothing new. */
const NOTED = { points: 1000, seconds: 3600 };

const TOO_MANY = 'Too many sign-in attempts for this address.';

type Caller = Pick<RequestInfo, 'ip' | 'device' | 'isFromTool'>;

/** An attempt to sign in that has begun. */
export interface Attempt {
  /**
   * Counts it for whom it is about, when a password is tried, whichever directory knows it: five in three minutes for an address,
   * whoever tries. A device that the address has signed in from before has five of its own, so that strangers cannot keep anybody
   * out.
   *
   * @param subject an address, folded, or another name that the device was named for
   * @throws rate_limited with the seconds to wait
   */
  about(subject: string): Promise<void>;
  /** It was no failure of the caller's. */
  giveBack(): Promise<void>;
}

export interface SigninLimit {
  /**
   * Counts one attempt to change a password, successful or not.
   *
   * @param userId the account
   * @throws rate_limited with the seconds to wait after the fifth within three minutes, unless another number is configured
   */
  changePassword(userId: string): Promise<void>;
  /**
   * Counts one attempt to sign in, whatever the way, as a failure until it is none: a network address has thirty in three minutes.
   *
   * @throws rate_limited with the seconds to wait
   */
  begin(caller: Caller): Promise<Attempt>;
  /** Counts one sign-up from a network address. @throws rate_limited */
  signUp(caller: Caller): Promise<void>;
  /** Whether the audit log still takes a failure: it is open to all, and must not be filled by anybody. */
  mayNoteFailure(): Promise<boolean>;
  /**
   * The cookie that makes the device of a successful sign-in known. A known device keeps its id, and so its count: else each
   * sign-in would begin five new attempts.
   *
   * @param subject what the attempt was counted under
   * @param byPassword whether a password was tried: this attempt is then the first of a new device's five
   */
  nameDevice(caller: Caller, subject: string, byPassword: boolean): Promise<string>;
}

export interface SigninLimitOptions {
  shared: SharedStore;
  secret: Secret;
  configs: Pick<ConfigStore, 'current'>;
  /** Whether the addresses of callers behind proxies are known. Else this machine's own may stand for everybody. */
  knowsProxies: boolean;
}

/** The limits of what anybody may try without being known. */
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

  /** Null for a caller that may stand for many: a proxy of this machine that is not named. Tools are none. */
  const networkOf = async ({ ip, isFromTool }: Caller): Promise<string | null> => {
    const network = toNetwork(ip);
    const mayBeProxy = network === 'loopback' && !knowsProxies && !(await isFromTool?.());
    return mayBeProxy ? null : network;
  };

  return {
    changePassword: (userId) =>
      changes.take(userId, 'Too many attempts to change the password.', limits()?.password_changes),
    async begin(caller) {
      const network = await networkOf(caller);
      // Before it is known how it ends: of many at once none is past the limit.
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
