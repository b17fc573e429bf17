import type { Secret } from '../../core/secrets/keys.ts';
import { seal, unseal } from '../../core/secrets/seal.ts';
import type { Answer } from './questions.schema.ts';

declare module '../../core/secrets/keys.ts' {
  interface KeyPurposes {
    'reply-answer': true;
  }
}

// Answers stay for moments, so they are never sealed again with a new secret.
const sealedFor = (id: string) => ({ purpose: 'reply-answer', place: `question:${id}` }) as const;

export const sealAnswer = (secret: Secret, answer: Answer, id: string): string =>
  seal(secret, JSON.stringify(answer), sealedFor(id));

/** @throws Error for a text that was sealed otherwise */
export const unsealAnswer = (secret: Secret, sealed: string, id: string): Answer =>
  JSON.parse(unseal(secret, sealed, sealedFor(id)));
