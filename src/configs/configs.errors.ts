import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  config_newer: { status: 400, detail: 'The configuration was exported by a newer version.' },
  config_locked: {
    status: 409,
    detail: 'An environment variable of the server pins that setting.',
  },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
