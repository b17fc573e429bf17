import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  credentials_wrong: { status: 400, detail: 'The e-mail address or the password is wrong.' },
  oauth_failed: {
    status: 400,
    detail: 'The sign-in through the provider did not succeed. Begin again.',
  },
  password_wrong: { status: 400, detail: 'The current password is wrong.' },
  password_weak: { status: 400, detail: 'That password is too easy to guess. Choose another.' },
  api_key_forbidden: { status: 403, detail: 'Use of API key is not enabled in the environment.' },
  signup_disabled: { status: 403, detail: 'Sign-up is switched off. Ask an administrator for an account.' },
  signin_disabled: { status: 403, detail: 'Sign-in by password is switched off.' },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
