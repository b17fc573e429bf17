import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  search_too_broad: {
    status: 422,
    detail: 'Too many messages hold these words. Search in one channel, of one author, or in less time.',
  },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
