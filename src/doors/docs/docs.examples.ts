import type { OpenAPIObject } from 'trpc-to-openapi';
import {
  ANSWERS,
  BODIES,
  EVERYWHERE,
  NANOSECONDS,
  nounOf,
  SECONDS,
  SHOWN,
  SOMETHING,
  type Words,
} from './docs.examples.words.ts';

/** The part of JSON Schema that the generator writes. */
export interface Described {
  $ref?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  example?: unknown;
  examples?: unknown[];
  minimum?: number;
  minItems?: number;
  properties?: Record<string, Described>;
  required?: string[];
  additionalProperties?: Described | boolean;
  items?: Described;
  anyOf?: Described[];
  oneOf?: Described[];
  allOf?: Described[];
}

interface Media {
  schema?: Described;
  example?: unknown;
}

interface DescribedOperation {
  operationId?: string;
  requestBody?: { content: Record<string, Media> };
  responses?: Record<string, { content?: Record<string, Media> }>;
}

type Components = Record<string, Described>;
/** Gives every JSON body of the document an example: inside of components, and beside other schemas. */
export function addExamples(document: OpenAPIObject): void {
  const components = (document.components?.schemas ?? {}) as Components;
  for (const [name, schema] of Object.entries(components)) {
    if (!ownExample(schema)) schema.examples = [exampleOf(schema, components, name)];
  }
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const operation of Object.values(operations as Record<string, DescribedOperation>)) {
      const { operationId = '', requestBody, responses = {} } = operation;
      for (const media of Object.values(requestBody?.content ?? {})) {
        media.example ??= BODIES[operationId] ?? exampleOf(media.schema ?? {}, components, path, true);
      }
      for (const [status, { content }] of Object.entries(responses)) {
        const media = content?.['application/json'];
        if (!media?.schema || !status.startsWith('2')) continue;
        if (operationId in ANSWERS) media.example = ANSWERS[operationId];
        else if (!media.schema.$ref) media.example ??= exampleOf(media.schema, components, path);
      }
    }
  }
}

/**
 * A value that fits a schema. Optional members are left out; an object with no others shows the first.
 *
 * @param at the name of the component, the path or the member that the schema describes
 * @param sent whether callers send it: they send no null
 */
export function exampleOf(schema: Described, components: Components, at: string, sent = false): unknown {
  const owner = nounOf(at);
  const shown = (inner: Described, name: string, around: Words): unknown => {
    const own = ownExample(inner);
    if (own) return own[0];
    if (inner.$ref) {
      const component = inner.$ref.split('/').at(-1) ?? '';
      return shown(components[component] ?? {}, '', nounOf(component) ?? around);
    }
    if (inner.const !== undefined) return inner.const;
    const word = [around, sent ? {} : SHOWN, EVERYWHERE].find((words) => name in words)?.[name];
    if (word !== undefined && isTaken(inner, word)) return word;
    if (inner.enum) return inner.default ?? inner.enum[0];
    return built(inner, name, around);
  };
  const built = (inner: Described, name: string, around: Words): unknown => {
    const options = inner.anyOf ?? inner.oneOf;
    const kinds = kindsOf(inner);
    if (!sent && kinds.includes('null')) {
      const first = options?.find((option) => option.$ref || option.properties);
      return first ? shown(first, name, nounOf(name) ?? around) : null;
    }
    if (options) return shown(options[0] ?? {}, name, around);
    if (inner.allOf) return Object.assign({}, ...inner.allOf.map((part) => shown(part, name, around)));
    const inside = nounOf(name) ?? around;
    if (kinds.includes('object')) return members(inner, inside);
    if (kinds.includes('array')) return elements(inner, name, inside);
    return inner.default !== undefined && inner.default !== '' ? inner.default : plain(inner, name, kinds);
  };
  const members = ({ properties = {}, required = [] }: Described, around: Words) => {
    const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
    return Object.fromEntries(names.map((name) => [name, shown(properties[name] ?? {}, name, around)]));
  };
  const elements = ({ items = {} }: Described, name: string, around: Words) =>
    Object.keys(items).length === 0 ? [] : [shown(items, name, around)];
  return shown(schema, at.split('/').at(-1) ?? '', owner ?? {});
}

function plain({ format, minimum = 0 }: Described, name: string, kinds: readonly string[]): unknown {
  if (kinds.includes('boolean')) return true;
  if (kinds.includes('integer') || kinds.includes('number')) {
    if (format === 'int64') return NANOSECONDS;
    return /_at$|^timestamp$/.test(name) ? SECONDS : Math.max(1, minimum);
  }
  if (format === 'uuid' || /(^|_)ids?$|_by$/.test(name)) return nounOf(name)?.id ?? SOMETHING;
  if (format === 'uri' || /url$/i.test(name)) return 'https://example.com/';
  if (format === 'date') return '1990-12-10';
  return kinds.includes('string') ? '' : {};
}

const ownExample = ({ example, examples }: Described): unknown[] | undefined =>
  examples ?? (example === undefined ? undefined : [example]);

const isTaken = (schema: Described, word: unknown): boolean =>
  !schema.properties && (schema.enum?.includes(word) ?? kindsOf(schema).includes(kindOf(word)));

/** The JSON types that a schema accepts; all when it names none. Components are objects. */
function kindsOf({ $ref, type, anyOf, oneOf }: Described): string[] {
  const options = anyOf ?? oneOf;
  if ($ref) return ['object'];
  if (options) return options.flatMap(kindsOf);
  return [type ?? ['object', 'array', 'string', 'integer', 'number', 'boolean']].flat();
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
