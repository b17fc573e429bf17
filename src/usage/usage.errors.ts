import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  budget_exceeded: { status: 429, detail: 'A limit on the use of models is reached.' },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
