import { randomUUID } from 'node:crypto';
import type { CompletionEvent } from '../../completions/completions.types.ts';
import type { ChatChunk } from '../../providers/providers.types.ts';

type EndEvent = Extract<CompletionEvent, { type: 'end' }>;
type Choice = ChatChunk['choices'][number];

/** The members that all chunks of one answer share; the provider has others for each round. */
export const newHead = (model: string) => ({
  id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
  created: Math.floor(Date.now() / 1000),
  model,
});

/** Brings the choices of several rounds, and of providers with habits of their own, into the order of one answer. */
export interface Choices {
  /**
   * The choices of a chunk without their ends; undefined when nothing is left. Each choice has its role once: the JavaScript client of
   * OpenAI needs one, and the Python client joins several to one text. The chunk is not changed: the engine reads it as well.
   */
  of(chunk: ChatChunk): Choice[] | undefined;
  /** The ends of all choices, after the last chunk. */
  ends(event: EndEvent): Choice[];
}

export function createChoices(): Choices {
  /** The last chunk of each choice that ended, without its delta. */
  const ended = new Map<number, Choice>();
  const begun = new Set<number>();

  function passOn(choice: Choice): Choice | undefined {
    const { index = 0, finish_reason } = choice;
    const delta: Choice['delta'] = choice.delta ?? {};
    const isFirst = !begun.has(index);
    begun.add(index);
    if (!finish_reason && isFirst === (delta.role !== undefined)) return choice;
    const { role = 'assistant', ...rest } = delta;
    const left: Choice['delta'] = isFirst ? { role, ...rest } : rest;
    const isEmpty = Object.values(left).every(
      (value) => value === null || value === undefined || value === '',
    );
    if (finish_reason) ended.set(index, { ...choice, delta: {}, logprobs: isEmpty ? choice.logprobs : null });
    return isEmpty ? undefined : { ...choice, delta: left, finish_reason: null };
  }

  return {
    of({ choices }) {
      const [first] = choices ?? [];
      if (!first) return undefined;
      if (choices.length === 1) {
        const only = passOn(first);
        return only === first ? choices : only && [only];
      }
      const left = choices.flatMap((choice) => passOn(choice) ?? []);
      return left.length > 0 ? left : undefined;
    },
    ends({ finish_reason }) {
      const reason = finish_reason as Choice['finish_reason'];
      const delta: Choice['delta'] = begun.has(0) ? {} : { role: 'assistant' };
      ended.set(0, { index: 0, ...ended.get(0), delta, finish_reason: reason });
      return [...ended.values()].sort((one, other) => one.index - other.index);
    },
  };
}
