import { jwtVerify, SignJWT } from 'jose';
import { AppError } from '../../core/errors.ts';
import { deriveKeys, type Secret } from '../../core/secrets/keys.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'session-jwt': true;
  }
}

const ALGORITHM = 'HS256';
const AUDIENCE = 'parley:session';

/** The claims of a session token: its account and its session. Times are Unix seconds. */
export interface SessionClaims {
  userId: string;
  sessionId: string;
  expiresAt: number | null;
}

export interface Tokens {
  sign(claims: SessionClaims): Promise<string>;
  /** @throws unauthenticated if this server did not sign the token for this use, or the token has expired */
  verify(token: string): Promise<SessionClaims>;
}

/** Session tokens: JWTs (RFC 7519) that name a session, so a token ends with its session. */
export function createTokens(secret: Secret): Tokens {
  const [newest, ...older] = deriveKeys(secret, 'session-jwt');
  const read = async (token: string, key: Uint8Array) =>
    (await jwtVerify(token, key, { algorithms: [ALGORITHM], audience: AUDIENCE })).payload;
  return {
    sign({ userId, sessionId, expiresAt }) {
      const token = new SignJWT({ id: userId })
        .setProtectedHeader({ alg: ALGORITHM })
        .setJti(sessionId)
        .setAudience(AUDIENCE)
        .setIssuedAt();
      return (expiresAt === null ? token : token.setExpirationTime(expiresAt)).sign(newest);
    },
    async verify(token) {
      try {
        const payload = await older.reduce(
          (attempt, key) => attempt.catch(() => read(token, key)),
          read(token, newest),
        );
        if (typeof payload.id !== 'string' || typeof payload.jti !== 'string') {
          throw new AppError('unauthenticated');
        }
        return { userId: payload.id, sessionId: payload.jti, expiresAt: payload.exp ?? null };
      } catch (cause) {
        throw new AppError('unauthenticated', { cause });
      }
    },
  };
}
