import { hash, verify } from '@node-rs/argon2';

/** Checked when there is no account, so that an unknown address costs the same time as a wrong password. */
const NOBODY = await hash('no account has this password');

/** Argon2id with the library's defaults, which follow OWASP's; runs outside the event loop. */
export const hashPassword = (password: string): Promise<string> => hash(password);

/** Whether the password fits. Takes as long without a hash, for which the answer is always no. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const fits = await verify(stored ?? NOBODY, password);
  return stored !== null && fits;
}
