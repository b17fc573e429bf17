import type { ChatMessage } from '../providers/providers.types.ts';

/** Of English prose; code and other languages have fewer. */
const CHARACTERS_PER_TOKEN = 4;
/** Of an image or a document, whatever its size. */
export const TOKENS_OF_FILE = 1_500;

/** The estimate for a text of so many characters. */
export const tokensOf = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

/** The most tokens of an answer that are believed. */
const MOST_COUNTED = 100_000_000;

/** A number of tokens that a provider has counted; undefined where it sent something else. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= MOST_COUNTED ? Math.ceil(value) : undefined;

/** An estimate of the tokens of a request by its characters: providers have no common tokenizer. */
export function tokensIn(messages: readonly ChatMessage[], tools: unknown): number {
  let characters = tools ? lengthOf(JSON.stringify(tools)) : 0;
  let files = 0;
  for (const { content, ...message } of messages) {
    if ('tool_calls' in message) characters += lengthOf(JSON.stringify(message.tool_calls));
    if (!Array.isArray(content)) characters += lengthOf(content);
    else
      for (const part of content) {
        if ('text' in part) characters += lengthOf(part.text);
        else files += 1;
      }
  }
  return tokensOf(characters) + files * TOKENS_OF_FILE;
}

export const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);
