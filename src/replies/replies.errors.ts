import { declareErrors } from '../core/errors.ts';

export const errors = declareErrors({
  reply_interrupted: {
    status: 503,
    detail: 'The server was stopped while the model wrote. Ask again.',
  },
  reply_timeout: { status: 504, detail: 'The model did not finish in time. Ask again, or ask for less.' },
  reply_empty: { status: 502, detail: 'The model sent no text.' },
  reply_too_long: { status: 502, detail: 'The model wrote more than a message can hold.' },
  reply_not_allowed: {
    status: 403,
    detail: 'The person who called the model may not write in this channel any more.',
  },
});

type Errors = typeof errors;
declare module '../core/errors.ts' {
  interface NounErrors extends Errors {}
}
