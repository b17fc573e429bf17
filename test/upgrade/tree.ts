import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = 'src/database/migrations';

/** The last migration of each release, the oldest release first; before the first one, nothing could be upgraded. */
export function readReleases(): Record<string, string> {
  return JSON.parse(readFileSync(join(ROOT, MIGRATIONS, '.releases.json'), 'utf8'));
}

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/**
 * The commit of the last release: its tag, or the one that brought its last migration.
 *
 * @returns undefined where the history does not have it: in a package, or a shallow clone
 */
export function commitOfLastRelease(): string | undefined {
  const [version, migration] = Object.entries(readReleases()).at(-1) ?? [];
  const candidates = [
    ['rev-parse', '--verify', '--quiet', `v${version}^{commit}`],
    ['log', '-1', '--diff-filter=A', '--format=%H', '--', `${MIGRATIONS}/${migration}.ts`],
  ];
  for (const args of candidates) {
    try {
      const commit = git(...args);
      // The first commit of a shallow clone seems to bring all files.
      if (commit && !isCutOff(commit)) return commit;
    } catch {
      // No repository, or no such tag.
    }
  }
  return undefined;
}

function isCutOff(commit: string): boolean {
  const cut = join(ROOT, git('rev-parse', '--git-path', 'shallow'));
  return existsSync(cut) && readFileSync(cut, 'utf8').includes(commit);
}

/** Copies the sources of a commit to a temporary folder. @returns the folder */
export function checkOut(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-release-'));
  const archive = spawnSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 });
  if (archive.status !== 0) throw new Error(`There is no commit ${commit}: ${archive.stderr}`);
  execFileSync('tar', ['-x', '-C', folder], { input: archive.stdout });
  if (hasPackagesOf(folder)) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--omit=dev'], { cwd: folder, stdio: 'inherit' });
  return folder;
}

/** Whether the packages that are installed here are those of the other version, too. */
function hasPackagesOf(folder: string): boolean {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return Object.keys(packages[''].dependencies).every((name) => {
    const file = join(ROOT, 'node_modules', name, 'package.json');
    const wanted = packages[`node_modules/${name}`].version;
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === wanted;
  });
}
