import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import project from '../../../package.json' with { type: 'json' };
import { hasAccounts } from '../../configs/client/accounts.service.ts';
import type { Parts } from '../../core/scope.ts';
import type { Env } from '../../env.ts';
import { originOf } from '../http/context.ts';
import { signUpLine } from './welcome.ts';

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
  h1 { margin-bottom: 0; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; border: 1px solid; border-radius: 0.4rem; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** `GET /`: tells visitors which server this is and how to begin, until there is a workspace page. */
export function mountPage(app: FastifyInstance, parts: Parts, env: Pick<Env, 'ENV'>): void {
  app.get('/', async (request, reply) => {
    const page = render(originOf(parts, request.raw), await hasAccounts(parts.sql), env.ENV === 'dev');
    return reply
      .type('text/html; charset=utf-8')
      .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-store' })
      .send(page);
  });
}

function render(origin: string, isInUse: boolean, hasDocs: boolean): string {
  const docs = hasDocs
    ? '<p><a href="/docs">All operations</a> and <a href="/openapi.json">the OpenAPI document</a>.</p>'
    : '<p>Start the server with <code>ENV=dev</code> to see all operations at <code>/docs</code>.</p>';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parley</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <h1>Parley</h1>
    <p>Version ${project.version}. This server is running.</p>
    ${isInUse ? IN_USE : newServer(origin)}
    <h2>Use it</h2>
    <p>Parley has no web interface yet. Programs reach it through REST below <code>/api/v1</code>, through the typed client
      <code>@parley/client</code>, and through Socket.IO at <code>/ws/socket.io</code>. README.md shows a first session
      with each, and docs/README.md lists what else there is to read.</p>
    ${docs}
    <p><a href="/ready">State of the server's parts</a></p>
  </body>
</html>
`;
}

const newServer = (origin: string) => `<h2>Make the first account</h2>
    <p>This server has no account yet. The first account becomes the administrator. Make it from a shell:</p>
    <pre>${escapeHtml(signUpLine(origin))}</pre>
    <p>The answer holds a <code>token</code>. Send it with each call as <code>Authorization: Bearer …</code>.</p>`;

const IN_USE = `<h2>Get an account</h2>
    <p>This server has accounts already. Sign up with <code>POST /api/v1/auths/signup</code>, if the administrator allows it.
      A new account waits until an administrator approves it.</p>`;
