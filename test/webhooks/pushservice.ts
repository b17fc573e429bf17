import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Egress } from '../../src/egress/egress.ts';
import { egressToHere } from '../egress/targets.ts';

interface Pushed {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export interface PushService {
  url: string;
  heard: Pushed[];
  /** The pushes to a browser, decrypted. */
  of(browser: Browser): { content: string }[];
  /** Answers 410 for the browser from now on. */
  lose(browser: Browser): void;
  close(): Promise<void>;
}

export interface Browser {
  path: string;
  /** As `PushSubscription.toJSON()`. */
  subscription: { endpoint: string; expirationTime: null; keys: { p256dh: string; auth: string } };
  open(pushed: Pushed): { content: string };
}

/** The egress to a push service on this machine, which speaks http: a certificate for its name would need openssl. */
export function egressToPush(): Egress {
  const egress = egressToHere();
  const fetch: Egress['fetch'] = (address, request) =>
    egress.fetch(address.replace(/^https:/, 'http:'), request);
  return { ...egress, fetch };
}

/** A push service on this machine. Browsers get its address with https; `egressToPush` leads there. */
export async function startPushService(): Promise<PushService> {
  const heard: Pushed[] = [];
  const gone = new Set<string>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { url: path = '', headers } = request;
    heard.push({ path, headers, body: Buffer.concat(chunks) });
    response.writeHead(gone.has(path) ? 410 : 201).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://push.example:${(server.address() as AddressInfo).port}`;
  return {
    url,
    heard,
    of: (browser) => heard.filter(({ path }) => path === browser.path).map(browser.open),
    lose: ({ path }) => void gone.add(path),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The keys of a browser, and its side of RFC 8291. */
export function openBrowser(service: Pick<PushService, 'url'>): Browser {
  const pair = createECDH('prime256v1');
  const publicKey = pair.generateKeys();
  const secret = randomBytes(16);
  const path = `/push/${randomBytes(8).toString('hex')}`;
  return {
    path,
    subscription: {
      endpoint: service.url + path,
      expirationTime: null,
      keys: { p256dh: publicKey.toString('base64url'), auth: secret.toString('base64url') },
    },
    open({ body }) {
      const [salt, idLength] = [body.subarray(0, 16), body[20] ?? 0];
      const sender = body.subarray(21, 21 + idLength);
      const sealed = body.subarray(21 + idLength);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender]);
      const derive = (key: Uint8Array, by: Uint8Array, what: string | Buffer, length: number) =>
        new Uint8Array(hkdfSync('sha256', key, by, what, length));
      const shared = derive(pair.computeSecret(sender), secret, info, 32);
      const key = derive(shared, salt, 'Content-Encoding: aes128gcm\0', 16);
      const nonce = derive(shared, salt, 'Content-Encoding: nonce\0', 12);
      const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(sealed.subarray(-16));
      const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
      return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString());
    },
  };
}

const parse = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());

/** The claims of the sender (RFC 8292), after a check of their signature; null for another key. */
export function claimsOf({ headers }: Pushed, publicKey: string): Record<string, unknown> | null {
  const [, token = '', key] = /^vapid t=(.+), ?k=(.+)$/.exec(headers.authorization as string) ?? [];
  if (key !== publicKey) return null;
  const [header, claims, signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const [x = '', y = ''] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  );
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${claims}`),
    {
      key: createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } }),
      dsaEncoding: 'ieee-p1363',
    },
    Buffer.from(signature, 'base64url'),
  );
  return isSigned && parse(header).alg === 'ES256' ? parse(claims) : null;
}
