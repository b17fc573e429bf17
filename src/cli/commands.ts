import { Argument, Command, Option } from 'commander';
import { z } from 'zod';
import project from '../../package.json' with { type: 'json' };
import { COMMAND, IS_PACKAGE } from '../program.ts';
import { RoleAtom } from '../users/users.schema.ts';
import { backup } from './backup.ts';
import { configExplain, configExport, configImport } from './config.ts';
import type { CommandContext, Streams } from './context.ts';
import { filesMove } from './files.ts';
import { migrateTables } from './migrate.ts';
import { partition } from './partition.ts';
import { restore } from './restore.ts';
import { secretAccept } from './secret.ts';
import { emailOption, nameOption, userCreate, userDelete, userList, userPassword, userRole } from './user.ts';
import { check } from './words.ts';

const PARTS = z.coerce.number().int().min(1).max(1024);

/** Makes the context of the command that runs. @throws StartError for a wrong variable of the environment */
type MakeContext = () => CommandContext;

/** `npm run parley -- …`, or `parley …` of the npm package, with all its commands. Usage errors are thrown as commander's `CommanderError`. */
export function buildProgram(context: MakeContext, { stdout, stderr }: Streams): Command {
  const program = new Command(COMMAND)
    .description(
      `Works on the server's database, whether the server runs or not.${IS_PACKAGE ? ' Without a command, the server starts; with --workers N, as N processes on one port.' : ''}`,
    )
    .version(project.version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show how a command is used')
    .helpCommand('help [command]', 'show how a command is used')
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError()
    .exitOverride();
  addConfigCommands(program, context);
  addUserCommands(program, context);
  addArchiveCommands(program, context);
  return program;
}

function addConfigCommands(program: Command, context: MakeContext): void {
  const config = program.command('config').description('read and change the configuration');
  config
    .command('export')
    .description('write the configuration as JSON')
    .option('--secrets', 'show secrets; without it they are masked')
    .action((options) => configExport(options, context()));
  config
    .command('import')
    .description('replace the configuration, and say what that changed')
    .argument('[file]', 'JSON; standard input without it')
    .addOption(
      new Option(
        '--fill <values>',
        'what stands in for missing members: an export of another system lacks some',
      ).choices(['defaults']),
    )
    .action((file, options) => configImport(file, options, context()));
  config
    .command('explain')
    .description('show values, where they come from and what acts on them')
    .argument(
      '[setting...]',
      'a setting or a section, for example ui.enable_signup or channels; all without it',
    )
    .option('--json', 'for programs')
    .action((settings, options) => configExplain(settings, options, context()));
}

const email = () => new Argument('<email>', 'the address of the account');
const role = () => new Argument('<role>', 'the new role').choices(RoleAtom.options);

function addUserCommands(program: Command, context: MakeContext): void {
  const user = program.command('user').description('make, list, change and delete accounts');
  user
    .command('list')
    .description('list the accounts, the oldest first')
    .addOption(new Option('--role <role>', 'only accounts of this role').choices(RoleAtom.options))
    .option('--json', 'for programs: one object a line')
    .action((options) => userList(options, context()));
  user
    .command('create')
    .description('make an account; the password is asked for, or read from standard input')
    .addOption(emailOption())
    .addOption(nameOption())
    .addOption(
      new Option('--role <role>', 'the first account is an administrator in any case')
        .choices(RoleAtom.options)
        .default('user'),
    )
    .action((options) => userCreate(options, context()));
  user
    .command('role')
    .description('change the role of an account, and end its sessions')
    .addArgument(email())
    .addArgument(role())
    .action((address, to) => userRole(address, to, context()));
  user
    .command('password')
    .description(
      'set the password of an account, and end its sessions; it is asked for, or read from standard input',
    )
    .addArgument(email())
    .action((address) => userPassword(address, context()));
  user
    .command('delete')
    .description('delete an account; what others use of it passes to an administrator')
    .addArgument(email())
    .requiredOption('--heir <email>', 'the administrator who gets its tools, channels and files')
    .action((address, options) => userDelete(address, options, context()));
}

function addArchiveCommands(program: Command, context: MakeContext): void {
  program
    .command('migrate')
    .description('bring the tables up to date, as the start of a server does')
    .option('--plan', 'only name the changes')
    .action((options) => migrateTables(options, context()));
  program
    .command('partition')
    .description('divide the tables of messages by the hash of their channel; no server may run')
    .addOption(
      new Option('--into <parts>', 'for example 16; 1 makes ordinary tables again')
        .argParser((value) => check(PARTS, value))
        .makeOptionMandatory(),
    )
    .action((options) => partition(options, context()));
  program
    .command('backup')
    .description('write database, uploads and secret into one archive; the server may run')
    .argument('<file>', 'the archive, for example parley.tar.gz; must not exist')
    .option('--without-files', 'leave the uploads out: for a bucket that is backed up by itself')
    .action((file, options) => backup(file, options, context()));
  program
    .command('restore')
    .description('put an archive in place; no server may run')
    .argument('<file>', 'an archive that backup wrote')
    .option(
      '--replace',
      'replace the accounts that the database holds, and take over the bucket of FILES_URL',
    )
    .action((file, options) => restore(file, options, context()));
  program
    .command('files')
    .description('the uploads')
    .command('move')
    .description(
      'copy the uploads to another place; servers may run, but the last run must be without them. Continues after an interruption',
    )
    .requiredOption('--to <place>', 'folder (in DATA_DIR), or a bucket as in FILES_URL')
    .option('--from <place>', 'the same; where the environment has them unless given')
    .option('--verify', 'read also what the new place has already')
    .action((options) => filesMove(options, context()));
  program
    .command('secret')
    .description('the secret that all keys are derived from')
    .command('accept')
    .description(
      'use this SECRET_KEY though the database was written with another one, which is lost; no server may run',
    )
    .action(() => secretAccept(context()));
}
