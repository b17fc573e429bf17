import { describe, expect, it } from 'vitest';
import { ReasoningSplitter } from '../../src/completions/reasoning.ts';

function split(pieces: Iterable<string>): { text: string; reasoning: string } {
  const splitter = new ReasoningSplitter();
  const parts = [...pieces].map((piece) => splitter.push(piece));
  parts.push(splitter.end());
  return {
    text: parts.map(({ text }) => text).join(''),
    reasoning: parts.map(({ reasoning }) => reasoning).join(''),
  };
}

const CASES: [string, string, string, string][] = [
  ['a pair of tags', '<think>\nOne. Two.\n</think>\n\nYes.', 'One. Two.', 'Yes.'],
  ['tags of another name', ' <|begin_of_thought|>Hm<|end_of_thought|>Yes', 'Hm', 'Yes'],
  ['tags that are no markup', '◁think▷Hm◁/think▷Yes', 'Hm', 'Yes'],
  ['two pairs', '<think>a</think>\n<think>b</think>c', 'ab', 'c'],
  ['an empty pair', '<think>\n\n</think>\n\nYes', '', 'Yes'],
  ['a tag that is never closed', '<thinking>Hm, what </think> if', 'Hm, what </think> if', ''],
  ['no tag', '  Yes, <b>of course</b>', '', '  Yes, <b>of course</b>'],
  ['a tag within the text', 'Write <think>x</think> there', '', 'Write <think>x</think> there'],
  ['half a tag at the end', '<thi', '', '<thi'],
  ['half a closing tag', '<think>a < b </thi', 'a < b </thi', ''],
];

describe('Thoughts of a model', () => {
  it.each(CASES)('are parted from its text: %s', (_, whole, reasoning, text) => {
    expect(split([whole])).toEqual({ text, reasoning });
  });

  it.each(CASES)('are parted from its text in pieces of any size: %s', (_, whole, reasoning, text) => {
    const characters = [...whole];
    for (let size = 1; size < characters.length; size += 1) {
      const count = Math.ceil(characters.length / size);
      const pieces = Array.from({ length: count }, (_, at) =>
        characters.slice(at * size, (at + 1) * size).join(''),
      );
      expect({ size, ...split(pieces) }).toMatchObject({ size, text, reasoning });
    }
  });

  it('come at once when they cannot belong to a tag', () => {
    const splitter = new ReasoningSplitter();
    expect(splitter.push('<think>')).toEqual({ text: '', reasoning: '' });
    expect(splitter.push('So,')).toEqual({ text: '', reasoning: 'So,' });
    expect(splitter.push(' then </')).toEqual({ text: '', reasoning: ' then' });
    expect(splitter.push('think>Yes')).toEqual({ text: 'Yes', reasoning: '' });
    expect(splitter.push(' <think>')).toEqual({ text: ' <think>', reasoning: '' });
  });
});
