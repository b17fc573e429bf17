import type { Logger } from 'pino';
import type { Env } from '../env.ts';
import { backup } from './backup.ts';
import { configExplain, configExport, configImport } from './config.ts';
import { restore } from './restore.ts';
import { secretAccept } from './secret.ts';
import { userCreate, userPassword, userRole } from './user.ts';

export interface CommandContext {
  env: Env;
  log: Logger;
}

export interface Command {
  name: string;
  /** What follows the name. */
  takes: string;
  does: string;
  run(words: string[], context: CommandContext): Promise<void>;
}

export { UsageError } from './words.ts';

export const COMMANDS: readonly Command[] = [
  {
    name: 'config export',
    takes: '[--secrets]',
    does: 'writes the configuration as JSON, secrets masked unless asked for',
    run: configExport,
  },
  {
    name: 'config import',
    takes: '[file] [--fill=defaults]',
    does: 'replaces the configuration by that of a file, or of standard input, and says what that changed',
    run: configImport,
  },
  {
    name: 'config explain',
    takes: '[setting…] [--json]',
    does: 'shows values, where they come from and who acts on them',
    run: configExplain,
  },
  {
    name: 'user create',
    takes: '--email=… --name=… [--role=user]',
    does: 'makes an account; the password is asked for, or read from standard input',
    run: userCreate,
  },
  { name: 'user role', takes: '<email> <admin|user|pending>', does: 'changes a role', run: userRole },
  {
    name: 'user password',
    takes: '<email>',
    does: 'sets a password and ends all sessions of the account',
    run: userPassword,
  },
  {
    name: 'secret accept',
    takes: '',
    does: 'goes on with this SECRET_KEY though the database was written with another one, which is lost; no server may run',
    run: secretAccept,
  },
  {
    name: 'backup',
    takes: '<file.tar.gz>',
    does: 'writes database, uploads and secret into one archive; the server may run',
    run: backup,
  },
  {
    name: 'restore',
    takes: '<file.tar.gz> [--replace]',
    does: 'puts an archive in place; no server may run',
    run: restore,
  },
];

/** How commands are meant to be given. */
export function usage(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ name, takes, does }) => [`  ${name} ${takes}`, `      ${does}`]);
  return ['Usage: npm run parley -- <command>', '', ...lines, ''].join('\n');
}
