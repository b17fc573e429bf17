/** A JSON Schema, as Pydantic writes it: with `$defs`, `anyOf` for optional values, and hints of tools in `input`. */
export interface JsonSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  writeOnly?: boolean;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  input?: { type?: string; options?: unknown };
}

export interface Choice {
  value: unknown;
  label: string;
}

type Kind =
  | 'text'
  | 'longText'
  | 'secret'
  | 'color'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'list'
  | 'object'
  | 'json';

/** One field of a form: its schema without references and without the alternative `null`. */
export interface Field {
  kind: Kind;
  schema: JsonSchema;
  choices: Choice[];
  /** The field of each entry of a list. */
  items: Field | null;
  /** The fields of an object by their names. */
  members: [name: string, field: Field, isRequired: boolean][];
  isNullable: boolean;
}

/** Objects below this depth are edited as JSON. */
const MAX_DEPTH = 2;

/** The fields of a schema of an object. */
export function fieldsOf(root: JsonSchema): Field['members'] {
  return membersOf(root, root, 0);
}

function membersOf(schema: JsonSchema, root: JsonSchema, depth: number): Field['members'] {
  return Object.entries(schema.properties ?? {}).map(([name, node]) => [
    name,
    fieldOf(node, root, depth),
    schema.required?.includes(name) ?? false,
  ]);
}

function fieldOf(node: JsonSchema, root: JsonSchema, depth: number): Field {
  const { schema: written, isNullable } = resolve(node, root);
  const schema = withTexts(written);
  const choices = choicesOf(schema);
  const itemSchema = schema.items && resolve(schema.items, root).schema;
  const itemChoices = itemSchema ? choicesOf(itemSchema) : [];
  const kind = kindOf(schema, { choices, itemChoices, depth });
  return {
    kind,
    schema,
    isNullable,
    choices: choices.length > 0 ? choices : itemChoices,
    items: kind === 'list' && schema.items ? fieldOf(schema.items, root, depth + 1) : null,
    members: kind === 'object' ? membersOf(schema, root, depth + 1) : [],
  };
}

/** Without a title or description that is no text: the author of a tool may write any JSON there. */
function withTexts({ title, description, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  };
}

/** Follows references, and unites a schema with its only alternative beside `null`. */
function resolve(node: JsonSchema, root: JsonSchema, steps = 0): { schema: JsonSchema; isNullable: boolean } {
  if (steps > 16) return { schema: {}, isNullable: false };
  const { $ref, anyOf, oneOf, allOf, ...own } = node;
  const target = $ref ? root.$defs?.[$ref.split('/').at(-1) ?? ''] : undefined;
  if (target) return resolve({ ...target, ...own }, root, steps + 1);
  const alternatives = [anyOf, oneOf, allOf].find(Array.isArray) ?? [];
  const others = alternatives.filter(({ type }) => type !== 'null');
  const [only] = others;
  const isOptional = others.length < alternatives.length;
  if (only && others.length === 1) {
    const { schema, isNullable } = resolve({ ...only, ...own }, root, steps + 1);
    return { schema, isNullable: isNullable || isOptional };
  }
  if (others.length > 1) return { schema: { ...own, anyOf: others }, isNullable: isOptional };
  if (!Array.isArray(own.type)) return { schema: own, isNullable: false };
  const types = own.type.filter((type) => type !== 'null');
  const [type] = types;
  const isNullable = types.length < own.type.length;
  return { schema: types.length === 1 && type ? { ...own, type } : { ...own, type: types }, isNullable };
}

/** The choices that the schema lists, or that the server computed for a hint of the tool; each value once. */
function choicesOf({ enum: listed, const: only, input }: JsonSchema): Choice[] {
  const single = only === undefined ? [] : [only];
  const values = Array.isArray(listed) ? listed.filter((value) => value !== null) : single;
  const choices = (Array.isArray(input?.options) ? input.options : values).map(choiceOf);
  return [...new Map(choices.map((choice) => [keyOf(choice.value), choice])).values()];
}

/** Values of any type by their JSON, since inputs hold texts. */
export const keyOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function choiceOf(option: unknown): Choice {
  if (typeof option === 'object' && option !== null && 'value' in option) {
    const label = 'label' in option ? option.label : option.value;
    return { value: option.value, label: String(label) };
  }
  return { value: option, label: typeof option === 'string' ? option : JSON.stringify(option) };
}

interface Surroundings {
  choices: Choice[];
  itemChoices: Choice[];
  depth: number;
}

function kindOf(schema: JsonSchema, { choices, itemChoices, depth }: Surroundings): Kind {
  const { type, format, writeOnly, input, items, properties, maxLength } = schema;
  if (type === 'array') {
    if (choices.length > 0 || itemChoices.length > 0) return 'choices';
    return items && depth < MAX_DEPTH ? 'list' : 'json';
  }
  if (choices.length > 0) return 'choice';
  if (type === 'boolean' || type === 'integer' || type === 'number') return type;
  if (type === 'string') {
    if (format === 'password' || writeOnly || input?.type === 'password') return 'secret';
    if (input?.type === 'color') return 'color';
    return input?.type === 'textarea' || (maxLength ?? 0) > 500 ? 'longText' : 'text';
  }
  return type === 'object' && properties && depth < MAX_DEPTH ? 'object' : 'json';
}

/** The title; without one of its own, the name in words: `round_up` is "Round up". */
export function labelOf(name: string, { title }: JsonSchema): string {
  const words = name.replaceAll('_', ' ').trim();
  const isOwn = title !== undefined && title.toLowerCase() !== words.toLowerCase();
  return isOwn ? title : words.charAt(0).toUpperCase() + words.slice(1);
}
