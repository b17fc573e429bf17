import { z } from 'zod';
import { NAMED_VARIABLES, VARIABLE_PREFIX } from '../env/settings.ts';
import { StartError } from '../env.ts';
import { DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import { Configuration } from './settings/configs.schema.ts';
import { SETTINGS, valueAt, withValue } from './settings/configs.settings.ts';

/** A setting whose value an environment variable decides, whatever is stored. */
export interface Pin {
  /** Dotted. */
  path: string;
  variable: string;
  value: unknown;
}

/** `true`, `1`, `yes`, `on` and their opposites, as the other variables take them. */
const flag = z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] });

/**
 * The pinned settings, checked by the schema of the configuration. A variable that names no setting, or whose value is wrong,
 * stops the start, because a variable that is silently ignored is found much later.
 *
 * @throws StartError naming the variable
 */
export function readPins(variables: Readonly<Record<string, string>>): Pin[] {
  const pins: Pin[] = [];
  for (const [variable, text] of Object.entries(variables)) {
    const path = pathOf(variable);
    const other = pins.find((pin) => pin.path === path);
    if (other) {
      throw new StartError(`${other.variable} and ${variable} both pin ${path}. Set only one of them.`);
    }
    pins.push({ path, variable, value: parseValue(path, variable, text) });
  }
  return pins.map(fitted);
}

function pathOf(variable: string): string {
  const path = NAMED_VARIABLES[variable] ?? variable.slice(VARIABLE_PREFIX.length).replaceAll('__', '.');
  if (SETTINGS.includes(path)) return path;
  const folded = SETTINGS.find((setting) => setting.toLowerCase() === path.toLowerCase());
  const hint = folded ? ` Write ${VARIABLE_PREFIX}${folded.replaceAll('.', '__')}.` : '';
  throw new StartError(`The environment variable ${variable} names no setting of the configuration.${hint}`);
}

/** The text, parsed to the type of the setting's default: a flag, a number, a list, an object, else text. */
function parseValue(path: string, variable: string, text: string): unknown {
  const initial = valueAt(DEFAULT_CONFIGURATION, path);
  const wrong = (expected: string) =>
    new StartError(`The environment variable ${variable} is wrong: ${path} must be ${expected}.`);
  if (typeof initial === 'boolean') {
    const parsed = flag.safeParse(text);
    if (!parsed.success) throw wrong('true or false');
    return parsed.data;
  }
  if (typeof initial === 'number') {
    if (text.trim() === '' || !Number.isFinite(Number(text))) throw wrong('a number');
    return Number(text);
  }
  if (typeof initial !== 'object' || initial === null) return text;
  if (!Array.isArray(initial) || text.trimStart().startsWith('[')) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw wrong(Array.isArray(initial) ? 'a list in JSON' : 'an object in JSON');
    }
  }
  const entries = text.split(/[,;]/).map((entry) => entry.trim());
  // The first key belongs to the first address, and so on. `;sk-2` leaves the first address without a key.
  return path.endsWith('.api_keys') ? entries : entries.filter((entry) => entry !== '');
}

/** The pin as the schema parses it. Pins are parsed one by one, so that an error names the right variable. */
function fitted(pin: Pin): Pin {
  const { path, variable, value } = pin;
  const parsed = Configuration.safeParse(withValue(DEFAULT_CONFIGURATION, path, value));
  if (parsed.success) return { ...pin, value: valueAt(parsed.data, path) };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') || path;
  // The value is not repeated: it may be a secret, and this line is written to logs.
  throw new StartError(`The environment variable ${variable} is wrong: ${where}: ${issue?.message}.`);
}

/** The configuration with the pinned values in place of the stored ones. */
export const applyPins = (configuration: Configuration, pins: readonly Pin[]): Configuration =>
  pins.reduce((tree, { path, value }) => withValue(tree, path, value), configuration);
