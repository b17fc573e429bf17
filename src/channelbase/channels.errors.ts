import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  channels_disabled: { status: 403, detail: 'Channels are switched off.' },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
