import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/poll.ts';
import { freePort } from '../support/process.ts';

const EXAMPLES = join(import.meta.dirname, '../../deploy/proxies');
const isInstalled = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

/** In CI, tests fail instead of being skipped. */
export const withoutNginx =
  !(isInstalled('nginx', '-v') && isInstalled('openssl', 'version')) && process.env.CI !== 'true';
export const withoutCaddy = !isInstalled('caddy', 'version');

/** A proxy that runs with an example of `deploy/proxies`, and its address. */
export interface RunningProxy {
  url: string;
  close(): Promise<void>;
}

/** Replaces the addresses and paths of an example; fails when one of them is not there. */
function adapt(example: string, replacements: Record<string, string>): string {
  return Object.entries(replacements).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The example has no ${from}.`);
    return text.replaceAll(from, to);
  }, example);
}

export async function startNginx(server: URL, secret: string): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-nginx-'));
  const [plain, port] = [await freePort(), await freePort()];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', join(folder, 'privkey.pem'), '-out', join(folder, 'fullchain.pem')];
  const options = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', [...options, ...subject, ...files], { stdio: 'ignore' });
  await writeFile(join(folder, 'parley-secret.conf'), `proxy_set_header X-Proxy-Secret ${secret};`);
  const example = adapt(await readFile(join(EXAMPLES, 'nginx.conf'), 'utf8'), {
    'listen 80;': `listen 127.0.0.1:${plain};`,
    'listen 443 ': `listen 127.0.0.1:${port} `,
    '127.0.0.1:8080': server.host,
    '/etc/ssl/parley': folder,
    '/etc/nginx/parley-secret': `${folder}/parley-secret`,
  });
  await writeFile(join(folder, 'parley.conf'), example);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; events {} http { access_log off; ${temporary.join(' ')} include ${folder}/parley.conf; }`,
  );
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'];
  return run(spawn('nginx', args, { stdio: 'ignore' }), `https://127.0.0.1:${port}`, folder);
}

export async function startCaddy(server: URL, secret: string): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-caddy-'));
  const url = `https://localhost:${await freePort()}`;
  // Caddy would otherwise change the certificates that the machine trusts.
  const options = 'admin off\nskip_install_trust\nauto_https disable_redirects\ndefault_bind 127.0.0.1';
  const example = await readFile(join(EXAMPLES, 'Caddyfile'), 'utf8');
  await writeFile(join(folder, 'Caddyfile'), `{\n${options}\n}\n${example}`);
  const child = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile')], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      SITE: url,
      PARLEY: server.host,
      PROXY_SECRET: secret,
    },
  });
  return run(child, url, folder);
}

/** Waits until the server answers through the proxy. */
async function run(child: ChildProcess, url: string, folder: string): Promise<RunningProxy> {
  const ended = once(child, 'exit');
  await until('the proxy to serve or end', async () => {
    if (child.exitCode !== null) throw new Error(`The proxy ended with ${child.exitCode}.`);
    return (await fetch(`${url}/health`).catch(() => null))?.ok;
  });
  return {
    url,
    async close() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
