import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Answer, Person } from '../support/server.ts';
import type { Workshop } from './workshop.ts';

const indent = (text: string) => text.trim().replaceAll(/^(?=.)/gm, '        ');

/** The parameters that functions of published tools declare most often. */
const HEAD =
  'async def f(self, url: str = "", __user__: dict = {}, __event_emitter__=None, __request__=None)';

/** A tool like published ones: imports from line 5 on, and one function `f`. */
export const toolOf = (imports: string, body: string, head = HEAD) =>
  `"""\ntitle: T\nauthor: us\n"""\n${imports.trim()}\n\nclass Tools:\n    ${head}:\n${indent(body)}\n`;

let number = 0;

/** Stores a tool and calls its function as the reader. */
export async function runTool(
  shop: Workshop,
  content: string,
  args: object = {},
  person: Person = shop.reader,
): Promise<Answer> {
  number += 1;
  const id = `published_${number}`;
  const created = await shop.create(id, content);
  expect([created.status, created.body.detail]).toEqual([200, undefined]);
  return shop.as(person, 'POST', `${id}/call`, { function: 'f', arguments: args });
}

/** Stores a golden tool unchanged and returns a function that calls it as the reader. */
export async function storeGolden(shop: Workshop, name: string) {
  const source = readFileSync(join(import.meta.dirname, 'golden', `${name}.py`), 'utf8');
  const { status, body } = await shop.create(name, source);
  expect([status, body.detail]).toEqual([200, undefined]);
  return async (run: string, args: object = {}) => {
    const call = { function: run, arguments: args };
    return (await shop.as(shop.reader, 'POST', `${name}/call`, call)).body;
  };
}

/** The text of a file of the reader. */
export async function contentOf(shop: Workshop, id: string): Promise<string> {
  const headers = { authorization: `Bearer ${shop.reader.token}` };
  return (await fetch(`${shop.server.url}/api/v1/files/${id}/content`, { headers })).text();
}
