import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as forward } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, buildConnector, getGlobalDispatcher, setGlobalDispatcher } from 'undici';

/**
 * The reason why tests with other host names are skipped here; undefined when they run. In CI they fail
 * instead.
 */
export const withoutOpenssl =
  spawnSync('openssl', ['version']).error !== undefined && process.env.CI !== 'true';

/**
 * Redirects requests for other host names to servers of this machine, over TLS with a certificate for these
 * names. This concerns all uses of `fetch` in this process: those of the server and those of the test's
 * browser. The server itself is unchanged.
 *
 * @param ports the port of the server for each host, which speaks http
 */
export async function startInternet(ports: Record<string, number>): Promise<{ close(): Promise<void> }> {
  const { key, cert } = makeCertificate(Object.keys(ports));
  const front = createServer({ key, cert }, (request, response) => {
    const { method, url: path, headers } = request;
    const to = { host: '127.0.0.1', port: ports[headers.host ?? ''], method, path };
    const onward = forward({ ...to, headers: { ...headers, 'x-forwarded-proto': 'https' } }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const { port } = front.address() as AddressInfo;

  const connect = buildConnector({ ca: cert });
  const usual = getGlobalDispatcher();
  const agent = new Agent({
    connect: (options, callback) => {
      const isTheirs = options.protocol === 'https:' && options.hostname in ports;
      const here = { ...options, hostname: '127.0.0.1', port: `${port}`, servername: options.hostname };
      connect(isTheirs ? here : options, callback);
    },
  });
  setGlobalDispatcher(agent);
  return {
    async close() {
      setGlobalDispatcher(usual);
      await agent.destroy();
      front.closeAllConnections();
      front.close();
      await once(front, 'close');
    },
  };
}

function makeCertificate(names: string[]): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-certificate-'));
  try {
    const san = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`;
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'key.pem'];
    const args = [
      'req',
      '-x509',
      ...key,
      '-out',
      'cert.pem',
      '-days',
      '2',
      '-subj',
      '/CN=Test',
      '-addext',
      san,
    ];
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return { key: read('key.pem'), cert: read('cert.pem') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
