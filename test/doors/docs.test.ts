import { afterAll, describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/core/errors.ts';
import { buildDocument } from '../../src/doors/docs/docs.document.ts';
import { PLAIN_PATHS } from '../../src/doors/docs/docs.paths.ts';
// Declares the error codes for the examples of the document.
import '../../src/nouns.ts';
import { startToy, toyRouter } from './toy.ts';

const dev = await startToy({ ENV: 'dev' });
afterAll(() => dev.close());

describe('docs', () => {
  it('exist only with ENV=dev', async () => {
    const prod = await startToy();
    for (const path of ['/docs', '/openapi.json', '/docs/start.js']) {
      expect((await fetch(dev.url + path)).status).toBe(200);
      const response = await fetch(prod.url + path);
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
        404,
        'not_found',
      ]);
    }
    await prod.close();
  });

  it('load only files of this server, and all of these exist', async () => {
    const response = await fetch(`${dev.url}/docs/`);
    const page = await response.text();
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file as string);
    expect(files).toHaveLength(4);
    for (const file of files) {
      expect(file).toMatch(/^\/docs\//);
      const served = await fetch(dev.url + file);
      expect(served.status).toBe(200);
      expect((await served.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self';/,
    );
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await (await fetch(`${dev.url}/docs/start.js`)).text()).toContain('validatorUrl: null');
  });

  it('serve the OpenAPI document of the router', async () => {
    const document = await (await fetch(`${dev.url}/openapi.json`)).json();
    expect(document).toEqual(JSON.parse(JSON.stringify(buildDocument(toyRouter, PLAIN_PATHS))));
  });
});

describe('the document', () => {
  const { servers, paths, components } = JSON.parse(JSON.stringify(buildDocument(toyRouter)));
  const ref = (name: string) => ({ $ref: `#/components/responses/${name}` });

  it('lists the REST procedures under /api/v1 by name, and nothing else', () => {
    expect(servers).toEqual([{ url: '/api/v1' }]);
    expect(paths['/things/{id}'].get.operationId).toBe('things.get');
    expect(JSON.stringify(paths)).not.toContain('ticks');
    expect(Object.keys(paths)).toEqual(Object.keys(paths).toSorted());
  });

  it('names the access rule and the credentials of each operation', () => {
    expect(paths['/things'].get).toMatchObject({ 'x-access': 'open', security: [] });
    expect(paths['/things/{id}'].get).toMatchObject({
      'x-access': 'thing.read',
      security: [{ bearer: [] }, { apiKey: [] }, { cookie: [] }],
    });
    expect(components.securitySchemes.bearer).toMatchObject({ type: 'http', scheme: 'bearer' });
  });

  it('states 201 where the bridge answers 201, and the possible failures', () => {
    const { responses } = paths['/things'].post;
    expect(responses['200']).toBeUndefined();
    expect(responses['201'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Thing',
    });
    expect(responses).toMatchObject({
      400: ref('BadRequest'),
      401: ref('Unauthenticated'),
      403: ref('Forbidden'),
    });
    expect(Object.keys(paths['/things'].get.responses)).toEqual(['200', '400', '429', '431', '500', '503']);
    expect(Object.keys(paths['/things/{id}'].get.responses)).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '429',
      '431',
      '500',
      '503',
    ]);
  });

  it('shows an example for each failure with its own status', () => {
    for (const [name, response] of Object.entries<{ content: object }>(components.responses)) {
      const { example } = Object.values(response.content)[0];
      expect([name, ERRORS[example.code as ErrorCode].detail]).toEqual([name, expect.any(String)]);
    }
    expect(components.responses.NotFound.content['application/json'].example.code).toBe('not_found');
  });

  it('has one schema for failures', () => {
    expect(Object.keys(components.schemas)).toEqual(['Error', 'Thing']);
    expect(components.responses.NotFound.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Error',
    });
    expect(components.schemas.Error.required).toEqual(['detail', 'code']);
  });

  it('describes a free-form body as an object, and the other members as query parameters', () => {
    const { requestBody, parameters } = paths['/things/{id}/valves'].post;
    expect(requestBody.required).toBe(true);
    expect(requestBody.content['application/json'].schema).toMatchObject({
      type: 'object',
      additionalProperties: {},
    });
    expect(parameters.map(({ in: where, name }: { in: string; name: string }) => [where, name])).toEqual([
      ['path', 'id'],
      ['query', 'dry'],
    ]);
  });

  it('requires no body when all members are optional', () => {
    expect(paths['/optional'].post.requestBody.required).toBe(false);
    expect(paths['/things'].post.requestBody.required).toBe(true);
    expect(paths['/touch'].post.requestBody).toBeUndefined();
  });

  it('describes nanoseconds as int64', () => {
    const since = paths['/things'].get.parameters.find(({ name }: { name: string }) => name === 'since');
    expect(JSON.stringify(since.schema)).toContain('"format":"int64"');
  });
});
