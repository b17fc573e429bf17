import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { vi } from 'vitest';
import { until } from './poll.ts';
import { freePort } from './process.ts';

/**
 * An S3 server without other parts: `go install github.com/versity/versitygw/cmd/versitygw@latest`. No package of Debian has it, so
 * the tests are skipped without it in CI, too.
 */
const PROGRAM = ['versitygw', join(homedir(), 'go/bin/versitygw')].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);
export const withoutS3 = PROGRAM === undefined;
if (withoutS3) console.warn('Tests of files in buckets are skipped: versitygw is not installed.');

const KEYS = { accessKeyId: 'parley-test', secretAccessKey: 'the-secret-of-the-test' };
/** The credentials, as the environment of a server names them. */
export const S3_ENV = { AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey };

export interface TestS3 {
  endpoint: string;
  /** The folder of the buckets: objects are files below it, and their times are those of the files. */
  folder: string;
  /** A client of the test itself. */
  client: S3Client;
  /** A new bucket, as `FILES_URL`. */
  bucket(parameters?: string): Promise<{ name: string; url: string }>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Keeps its connections open without answers, until `resume`. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Starts an S3 server on a free port of this machine, and gives its credentials to the SDK of this process. */
export async function startS3(): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-s3-'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: KEYS });
  let child: ChildProcess;
  let buckets = 0;
  for (const [name, value] of Object.entries(S3_ENV)) vi.stubEnv(name, value);
  await mkdir(join(folder, 'data'));

  async function launch(): Promise<void> {
    const { accessKeyId, secretAccessKey } = KEYS;
    const options = ['--access', accessKeyId, '--secret', secretAccessKey, '--port', `127.0.0.1:${port}`];
    child = spawn(PROGRAM ?? '', [...options, '--quiet', 'posix', join(folder, 'data')], { stdio: 'ignore' });
    await until('the S3 server to answer', () =>
      fetch(endpoint).then(
        () => true,
        () => false,
      ),
    );
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await launch();
  return {
    endpoint,
    folder: join(folder, 'data'),
    client,
    async bucket(parameters = '') {
      buckets += 1;
      const name = `bucket-${buckets}`;
      await client.send(new CreateBucketCommand({ Bucket: name }));
      return { name, url: `s3://${name}/some/prefix?endpoint=${encodeURIComponent(endpoint)}${parameters}` };
    },
    kill,
    restart: launch,
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      client.destroy();
      await kill();
      await rm(folder, { recursive: true, force: true });
      vi.unstubAllEnvs();
    },
  };
}
