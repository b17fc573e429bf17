/** A statement for PostgreSQL: `:name` has become `$1`, `$2`, … in the order of `parameters`. */
export interface ParsedText {
  text: string;
  parameters: readonly string[];
}

/**
 * Matches text whose colons begin no parameter, or else a parameter: strings (with backslashes after `E`), quoted
 * identifiers, dollar-quoted text, comments, casts.
 */
const TOKEN = new RegExp(
  [
    String.raw`\b[eE]'(?:[^'\\]|\\.|'')*'`,
    `'(?:[^']|'')*'`,
    `"(?:[^"]|"")*"`,
    String.raw`\$(?<tag>[A-Za-z_]*)\$.*?\$\k<tag>\$`,
    String.raw`--[^\n]*`,
    String.raw`/\*.*?\*/`,
    '::',
    String.raw`:(?<name>[A-Za-z_]\w*)`,
  ].join('|'),
  'gs',
);

/** Numbers the named parameters of a statement. A name that occurs twice is one parameter. */
export function parseParameters(source: string): ParsedText {
  const parameters: string[] = [];
  const text = source.replaceAll(TOKEN, (token, ...rest) => {
    const { name } = rest.at(-1) as { name?: string };
    if (name === undefined) return token;
    const known = parameters.indexOf(name);
    return `$${known === -1 ? parameters.push(name) : known + 1}`;
  });
  return { text, parameters };
}
