import { readFile } from 'node:fs/promises';
import { explainConfiguration, isKnown } from '../configs/configs.explain.ts';
import { exportConfiguration, replaceConfiguration } from '../configs/configs.service.ts';
import { isObject } from '../core/json/json.ts';
import { StartError } from '../env.ts';
import type { CommandContext, Streams } from './context.ts';
import { readInput } from './words.ts';
import { work } from './workplace.ts';

const print = ({ stdout }: Streams, value: unknown) => stdout.write(`${JSON.stringify(value, null, 2)}\n`);

export async function configExport(options: { secrets?: boolean }, context: CommandContext): Promise<void> {
  const { env, log } = context;
  await work(env, log, async (at) => print(context, exportConfiguration(at, options)));
}

export async function configImport(
  file: string | undefined,
  { fill }: { fill?: 'defaults' },
  context: CommandContext,
): Promise<void> {
  const { env, log } = context;
  const config = await readConfiguration(file, context);
  await work(env, log, async (at) => {
    const { revision, changed } = await replaceConfiguration(at, { config, fill }, 'command');
    const lines = changed.map((path) => `  ${path}${isKnown(path) ? '' : '  (not known here, kept)'}\n`);
    const what = lines.length === 0 ? 'It is as it was.' : 'Changed:';
    context.stderr.write(
      `The configuration is in force, as revision ${revision}. ${what}\n${lines.join('')}`,
    );
  });
}

/** @throws StartError when the file cannot be read, or holds no JSON object */
async function readConfiguration(
  file: string | undefined,
  streams: Streams,
): Promise<Record<string, unknown>> {
  try {
    const text = file === undefined || file === '-' ? await readInput(streams) : await readFile(file, 'utf8');
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) throw new Error('it is no JSON object');
    // The body of a client's request is accepted too.
    return isObject(value.config) && Object.keys(value).length === 1 ? value.config : value;
  } catch (cause) {
    throw new StartError(`The configuration cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

export async function configExplain(
  words: string[],
  options: { json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { env, log } = context;
  const { settings, faults } = await work(env, log, explainConfiguration);
  const covers = (path: string) => words.some((word) => path === word || path.startsWith(`${word}.`));
  const asked = words.length === 0 ? settings : settings.filter(({ path }) => covers(path));
  if (asked.length === 0) throw new StartError(`There is no setting "${words.join(' ')}".`);
  for (const { path, message } of faults)
    context.stderr.write(`${path}: ${message}. Its default is in force; an import mends it.\n`);
  if (options.json) return void print(context, asked);
  const where = ({ source, variable }: (typeof asked)[number]) =>
    variable ? `pinned by ${variable}` : source;
  for (const setting of asked) {
    const { path, value, used_by, meaning } = setting;
    context.stdout.write(
      `${path} = ${JSON.stringify(value)}  (${where(setting)}; used by ${used_by}: ${meaning})\n`,
    );
  }
}
