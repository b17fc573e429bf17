import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  email_invalid: {
    status: 400,
    detail: 'That e-mail address is not valid. Use one of the form name@example.com.',
  },
  email_taken: { status: 400, detail: 'That e-mail address already has an account. Sign in instead.' },
  primary_admin: {
    status: 403,
    detail: 'The first administrator can be neither demoted nor deleted by others.',
  },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
