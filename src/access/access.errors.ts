import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  quota_exceeded: {
    status: 507,
    detail: 'That would take more room than you may have. Delete something first.',
  },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
