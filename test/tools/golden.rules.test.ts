import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FunctionSpec, JsonSchema } from '../../src/python/protocol.ts';
import { sharedEnvironment } from '../support/python.ts';

/*
 * Checks the recorded specifications of `golden.test.ts` against the rules of `peer-wire.md` 4.4: the rules
 * that depend on the source text (`golden.read.py`), and the rules for every schema.
 */

const FOLDER = join(import.meta.dirname, 'golden');
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.py'))
  .map((file) => basename(file, '.py'));

/** What the source text of a function requires of its specification. */
interface Demand {
  description: string;
  parameters: string[];
  required: string[];
  types: Record<string, string>;
  defaults: Record<string, unknown>;
  without_default: string[];
  said: Record<string, string>;
}

let demands: Record<string, Record<string, Demand>>;
beforeAll(async () => {
  const python = join(await sharedEnvironment(), 'bin', 'python');
  const files = names.map((name) => join(FOLDER, `${name}.py`));
  const read = join(import.meta.dirname, 'golden.read.py');
  const { stdout } = await promisify(execFile)(python, ['-I', read, ...files]);
  demands = Object.fromEntries(
    Object.entries(JSON.parse(stdout)).map(([file, demand]) => [basename(file, '.py'), demand]),
  ) as typeof demands;
});

const specsOf = (name: string): FunctionSpec[] =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')).specs;

/** A schema and all schemas that it contains. */
function nodesOf(schema: JsonSchema): JsonSchema[] {
  const many = (value: unknown) => Object.values((value ?? {}) as Record<string, JsonSchema>);
  const { properties, items, additionalProperties, prefixItems, anyOf, oneOf, allOf } = schema;
  const parts = [properties, prefixItems, anyOf, oneOf, allOf].flatMap(many);
  const single = [items, additionalProperties].filter((one) => typeof one === 'object') as JsonSchema[];
  return [schema, ...[...parts, ...single].flatMap(nodesOf)];
}

/** Sources with functions that are not methods in their text. */
const MORE_THAN_WRITTEN = ['attributes_that_are_functions', 'inherited', 'overloaded_globals'];

describe('the specification matches the text of the source:', () => {
  it.each(names)('%s', (name) => {
    const specs = specsOf(name);
    const listed = specs.map((spec) => spec.name);
    const written = Object.keys(demands[name] ?? {});
    if (MORE_THAN_WRITTEN.includes(name)) expect(listed).toEqual(expect.arrayContaining(written));
    else expect(listed).toEqual(written.toSorted());
    for (const { name: of, description, parameters } of specs) {
      const demand = demands[name]?.[of];
      if (!demand) continue;
      const { properties, required = [] } = parameters;
      expect(description).toBe(demand.description);
      expect(Object.keys(properties)).toEqual(demand.parameters);
      expect(required).toEqual(demand.required);
      for (const [parameter, type] of Object.entries(demand.types)) {
        expect([parameter, properties[parameter]?.type]).toEqual([parameter, type]);
      }
      for (const [parameter, value] of Object.entries(demand.defaults)) {
        expect([parameter, properties[parameter]?.default]).toEqual([parameter, value]);
      }
      for (const parameter of demand.without_default)
        expect(properties[parameter]).not.toHaveProperty('default');
      for (const [parameter, text] of Object.entries(demand.said)) {
        expect(String(properties[parameter]?.description).split('\n')[0]).toBe(text);
      }
    }
  });
});

describe('every schema has a type, and no title and no reference:', () => {
  it.each(names)('%s', (name) => {
    const specs = specsOf(name);
    expect(specs.map((spec) => spec.name)).toEqual(specs.map((spec) => spec.name).toSorted());
    for (const spec of specs) {
      expect(spec.name).not.toMatch(/^_/);
      expect(spec.parameters.type).toBe('object');
      expect(spec.parameters.required).not.toEqual([]);
      for (const parameter of Object.keys(spec.parameters.properties)) expect(parameter).not.toMatch(/^_/);
      for (const node of Object.values(spec.parameters.properties).flatMap(nodesOf)) {
        // Models do not use titles, references, and null as a choice or a default.
        for (const keyword of ['title', '$ref', '$defs', 'discriminator'])
          expect(node).not.toHaveProperty(keyword);
        expect(node.default).not.toBeNull();
        expect(node.type).not.toBe('null');
        expect(
          [node.anyOf, node.oneOf, node.allOf].every(
            (choices) => (choices as unknown[] | undefined)?.length !== 1,
          ),
        ).toBe(true);
        expect(['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'].some((keyword) => keyword in node)).toBe(
          true,
        );
      }
    }
  });
});
