export type Values = Record<string, unknown>;

/** Text in a JSON field that is not JSON yet. */
export class Unparsed {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The path of the first field whose text is not JSON; null when all values can be sent. */
export function firstUnparsed(value: unknown, path: string[] = []): string | null {
  if (value instanceof Unparsed) return path.join('.');
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, part] of Object.entries(value)) {
    const found = firstUnparsed(part, [...path, name]);
    if (found !== null) return found;
  }
  return null;
}

/** A copy with one member set; without the member for `undefined`. */
export function withMember(values: Values, name: string, value: unknown): Values {
  const { [name]: _old, ...others } = values;
  return value === undefined ? others : { ...others, [name]: value };
}

export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** What turns the stored values into the edited ones: null resets a value to its default. */
export function changesOf(stored: Values, edited: Values): Values {
  const removed = Object.keys(stored).filter((name) => !Object.hasOwn(edited, name));
  const set = Object.entries(edited).filter(([name, value]) => !isSame(stored[name], value));
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...set]);
}
