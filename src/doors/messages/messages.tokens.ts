import type { ChatMessage } from '../../providers/providers.types.ts';

/** Of English prose; code and other languages have fewer. */
const CHARACTERS_PER_TOKEN = 4;
/** For the role and the frame of a message. */
const TOKENS_PER_MESSAGE = 4;
/** Of a picture or a document, whatever its size. */
const TOKENS_PER_FILE = 1_500;

/** An estimate of the tokens of a request by its characters: providers have no common tokenizer. */
export function estimateTokens(messages: readonly ChatMessage[], tools?: readonly object[] | null): number {
  let characters = tools?.length ? JSON.stringify(tools).length : 0;
  let files = 0;
  for (const { content, ...message } of messages) {
    if ('tool_calls' in message) characters += JSON.stringify(message.tool_calls).length;
    for (const part of typeof content === 'string'
      ? [{ type: 'text' as const, text: content }]
      : (content ?? [])) {
      if (part.type === 'text') characters += part.text.length;
      else files += 1;
    }
  }
  const ofText = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  return ofText + messages.length * TOKENS_PER_MESSAGE + files * TOKENS_PER_FILE;
}
