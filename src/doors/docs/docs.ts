import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyRouter } from '@trpc/server';
import type { FastifyInstance } from 'fastify';
import { getAbsoluteFSPath } from 'swagger-ui-dist';
import { buildDocument, renderDocument } from './docs.document.ts';
import { PLAIN_PATHS } from './docs.paths.ts';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Parley API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Served as a file, because the page's policy allows no inline script. */
const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  persistAuthorization: true,
  validatorUrl: null,
});
`;

/** The viewer sets styles inline and draws icons from data: addresses. Scripts come only from our files. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', png: 'image/png' };

/** `GET /docs` (Swagger UI from its npm package, nothing from other servers) and `GET /openapi.json`. */
export function mountDocs(app: FastifyInstance, router: AnyRouter): void {
  const document = renderDocument(buildDocument(router, PLAIN_PATHS));
  serve(app, '/openapi.json', 'application/json; charset=utf-8', document);
  serve(app, '/docs', 'text/html; charset=utf-8', PAGE);
  serve(app, '/docs/start.js', TYPES.js, START);
  for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']) {
    const type = TYPES[file.split('.').at(-1) as keyof typeof TYPES];
    serve(app, `/docs/${file}`, type, readFileSync(join(getAbsoluteFSPath(), file)));
  }
}

function serve(app: FastifyInstance, url: string, type: string, content: string | Buffer) {
  app.get(url, (_request, reply) => {
    reply.headers({ 'content-type': type, 'content-security-policy': POLICY }).send(content);
  });
}
