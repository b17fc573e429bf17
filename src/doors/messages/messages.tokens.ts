import { tokensIn } from '../../completions/tokens.ts';
import type { ChatMessage } from '../../providers/providers.types.ts';

/** For the role and the frame of a message. */
const TOKENS_PER_MESSAGE = 4;

/** An estimate of the tokens of a request, for its caller. */
export const estimateTokens = (messages: readonly ChatMessage[], tools?: readonly object[] | null): number =>
  tokensIn(messages, tools?.length ? tools : undefined) + messages.length * TOKENS_PER_MESSAGE;
