import { toUsage } from '../../completions/completions.account.ts';
import type { CompletionEvent } from '../../completions/completions.types.ts';
import type { ChatChunk } from '../../providers/providers.types.ts';
import { createChoices, newHead } from './openai.chunks.ts';

const toEvent = (data: object) => `data: ${JSON.stringify(data)}\n\n`;

/**
 * Encodes the events of a turn as OpenAI's stream. Empty for events that the client does not get.
 *
 * The usage is always sent: with the last choice, or in a chunk of its own when the client asked for that. Programs that did not ask read
 * `choices[0]` of every chunk.
 */
export function createStreamEncoder(
  model: string,
  wantsUsageChunk: boolean,
): (event: CompletionEvent) => string {
  const { id, created } = newHead(model);
  const head = { id, object: 'chat.completion.chunk', created, model };
  const choices = createChoices();

  function encodeChunk(chunk: ChatChunk): string {
    const left = choices.of(chunk);
    if (!left) return '';
    if (left !== chunk.choices || chunk.usage)
      return toEvent({ ...chunk, id, created, choices: left, usage: undefined });
    // One text for each token: no copy of the chunk.
    chunk.id = id;
    chunk.created = created;
    return toEvent(chunk);
  }

  function encodeEnd(event: Extract<CompletionEvent, { type: 'end' }>): string {
    const usage = event.usage ? { usage: toUsage(event.usage) } : {};
    const without = event.tools_offered ? {} : { parley: { tools_offered: false } };
    const end = toEvent({
      ...head,
      choices: choices.ends(event),
      ...(!wantsUsageChunk && usage),
      ...without,
    });
    const last = wantsUsageChunk && event.usage ? toEvent({ ...head, choices: [], ...usage }) : '';
    return `${end}${last}data: [DONE]\n\n`;
  }

  return (event) => {
    switch (event.type) {
      case 'chunk':
        return encodeChunk(event.chunk);
      case 'tool':
        // Not an empty list of choices: programs read the first one of every chunk.
        return toEvent({
          ...head,
          choices: [{ index: 0, delta: {}, finish_reason: null }],
          parley: { tool_calls: [event.call] },
        });
      case 'end':
        return encodeEnd(event);
    }
  };
}
