import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const DIST = join(import.meta.dirname, '..', '..', '..', 'web', 'dist');

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // Mantine and CodeMirror write style elements. Styles cannot call other hosts: fonts and pictures come from here too.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Served to browsers only while the page is not built, so it names no address and loads nothing. */
const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Parley</title>
<p>This server is running. Its page is not built: start the server with <code>npm start</code>, or run <code>node web/build.ts</code>.
Programs can use the API meanwhile.`;

/** The views that the router of the page knows, beside `/`. */
const VIEWS = [
  'auth',
  'sign-in',
  'sign-up',
  'pending',
  'channels',
  'search',
  'threads',
  'tools',
  'models',
  'admin',
  'account',
];

/** Files below the root of the page. Browsers ask for `sw.js` again at each visit. */
const ROOT_FILES = ['favicon.svg', 'site.webmanifest', 'sw.js'];

/**
 * Serves the built page: `index.html` at the address of each view, and its files, whose names change with their content.
 * A build of the page replaces all of them, so `index.html` is read for each visit.
 */
export async function mountPage(app: FastifyInstance): Promise<void> {
  const sendPage = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-store' })
      .send(await readPage());
  app.get('/', sendPage);
  for (const view of VIEWS) {
    app.get(`/${view}`, sendPage);
    app.get(`/${view}/*`, sendPage);
  }
  await app.register(fastifyStatic, {
    root: join(DIST, 'assets'),
    prefix: '/assets/',
    index: false,
    preCompressed: true,
    immutable: true,
    maxAge: '365d',
  });
  for (const name of ROOT_FILES) {
    app.get(`/${name}`, (_request, reply) =>
      reply.sendFile(name, DIST, { immutable: false, maxAge: 0, cacheControl: true }),
    );
  }
}

const readPage = (): Promise<string> => readFile(join(DIST, 'index.html'), 'utf8').catch(() => NOT_BUILT);
