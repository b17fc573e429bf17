import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  model_not_found: { status: 404, detail: 'There is no such model, or you may not use it.' },
  provider_failed: { status: 502, detail: 'The provider of the model did not answer as expected.' },
  provider_timeout: { status: 504, detail: 'The provider of the model took too long to answer.' },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
