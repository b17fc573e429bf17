import { randomUUID } from 'node:crypto';
import { Json } from '../../core/json/json.ts';

/** Stands for a text while tRPC writes an answer. Clients cannot know it, and it never leaves the process. */
const MARK = randomUUID();
const WRITTEN = JSON.stringify(MARK);

/** Takes the JSON texts out of answers, so that tRPC does not parse them in order to write them. */
export function takeTexts(answers: readonly unknown[]): string[] {
  const texts: string[] = [];
  for (const answer of answers) {
    const { result } = answer as { result?: { id?: unknown; data?: unknown } };
    // An item of a subscription that has an id is one level deeper.
    const holder = typeof result?.id === 'string' ? (result.data as { data?: unknown }) : result;
    if (!(holder?.data instanceof Json)) continue;
    texts.push(holder.data.text);
    holder.data = MARK;
  }
  return texts;
}

/** Puts the texts back into the answer that tRPC wrote, in their order. */
export const putTexts = (written: string, texts: readonly string[]): string =>
  written.split(WRITTEN).reduce((whole, part, index) => `${whole}${texts[index - 1]}${part}`);
