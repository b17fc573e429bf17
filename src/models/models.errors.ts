import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  version_conflict: {
    status: 409,
    detail: 'It was changed in between. Load it again and repeat your change.',
  },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
