import type { Failure } from '../../core/failure.ts';
import { toMessagesError } from '../messages/messages.errors.ts';
import { toOpenAiError } from '../openai/openai.errors.ts';

/** The paths of the Messages door. */
const MESSAGES = /^(?:\/v1|\/api\/v1|\/api)\/messages?(?:[/?]|$)/;
/** All other paths that clients of OpenAI use, unknown ones too. */
const OPENAI = /^\/v1(?:[/?]|$)/;

/** The body of a failure in the shape that clients of an address expect. */
export function failureBody(url: string, failure: Failure, requestId: string): object {
  if (MESSAGES.test(url)) return toMessagesError(failure, requestId);
  if (OPENAI.test(url)) return toOpenAiError(failure);
  return failure.body;
}
