import { createHash } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { deriveKeys, type Secret } from '../../core/secrets/keys.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'device-jwt': true;
  }
}

const ALGORITHM = 'HS256';
const AUDIENCE = 'parley:device';

/** How long a device is remembered. */
export const DEVICE_SECONDS = 365 * 86_400;

const digest = (email: string) => createHash('sha256').update(email).digest('base64url');

/**
 * Device tokens mark a device from which an address has signed in before. They do not authenticate: they only
 * give the device its own count of sign-in attempts. (OWASP calls them device cookies.)
 */
export function createDeviceTokens(secret: Secret) {
  const [newest, ...older] = deriveKeys(secret, 'device-jwt');
  return {
    /** @param id the id of the device */
    sign: (email: string, id: string): Promise<string> =>
      new SignJWT({ for: digest(email) })
        .setProtectedHeader({ alg: ALGORITHM })
        .setJti(id)
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime(`${DEVICE_SECONDS}s`)
        .sign(newest),
    /** The id of the device; null if the token is not valid for this address. */
    async read(token: string, email: string): Promise<string | null> {
      for (const key of [newest, ...older]) {
        try {
          const { payload } = await jwtVerify(token, key, { algorithms: [ALGORITHM], audience: AUDIENCE });
          return payload.for === digest(email) && typeof payload.jti === 'string' ? payload.jti : null;
        } catch {
          // An older key may have signed it. If no key fits, the token is ignored.
        }
      }
      return null;
    },
  };
}
