import type { AnyRouter } from '@trpc/server';
import {
  type GenerateOpenApiDocumentOptions,
  generateOpenApiDocument,
  type OpenAPIObject,
  type OpenApiRouter,
} from 'trpc-to-openapi';
import { z } from 'zod';
import project from '../../../package.json' with { type: 'json' };
import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import { isWhenFull, type Meta } from '../../core/trpc/meta.ts';
import { SESSION_COOKIE } from '../http/context.ts';
import { listProcedures, type Procedure } from '../http/procedures.ts';
import { REST_PREFIX } from '../rest/rest.ts';
import { addExamples } from './docs.examples.ts';
import { describeParameter, TAGS } from './docs.words.ts';

type Operation = NonNullable<NonNullable<OpenAPIObject['paths']>[string]['get']>;
type Schema = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
type Rest = NonNullable<Meta['openapi']>;

const DESCRIPTION = `Every path also answers under \`/api\`, with or without a trailing slash.

Each answer carries \`X-Process-Time\` (seconds) and \`X-Request-Id\`. Members that an operation does not know are
dropped and named in \`X-Ignored-Members\`; null in place of an optional member counts as not sent. A request that takes too long to send
is answered with 408, and one with an \`Expect\` header other than \`100-continue\` with 417. An operation's \`x-access\` says who may call it, and
\`x-credential\` that it takes a session, no API key.`;

/** The schema of `ErrorBody` in `core/errors.ts`. A function, because nouns declare their codes first. */
const failure = () =>
  z
    .object({
      detail: z.string().meta({ description: 'One sentence that a person can act on' }),
      code: z
        .enum(Object.keys(ERRORS).sort() as [ErrorCode, ...ErrorCode[]])
        .meta({ description: 'Stable; for programs' }),
      issues: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .meta({ description: 'All that is wrong with the input, up to the hundredth' }),
      request_id: z.string().optional().meta({ description: 'Names the failure in the log of the server' }),
    })
    .meta({ description: 'What went wrong' });

interface FailureText {
  name: string;
  description: string;
  /** The code of the example, where the first code of the status is rare. */
  code?: ErrorCode;
}

const FAILURES: Record<string, FailureText> = {
  400: { name: 'BadRequest', description: 'The input is not as expected' },
  401: { name: 'Unauthenticated', description: 'The credentials are missing, wrong, expired or not let in' },
  403: { name: 'Forbidden', description: 'Signed in, but not allowed' },
  404: { name: 'NotFound', description: 'There is nothing under that address or id' },
  409: { name: 'Conflict', description: 'The state of the server does not allow it' },
  413: { name: 'TooLarge', description: 'The request body is too large' },
  415: { name: 'UnsupportedMediaType', description: 'The request body is not JSON' },
  416: { name: 'RangeUnsatisfiable', description: 'The file does not have that range of bytes' },
  422: {
    name: 'NotDone',
    description:
      'Understood, but not to be done: a tool raised an error, or too much would have to be searched',
    code: 'search_too_broad',
  },
  431: {
    name: 'HeadersTooLarge',
    description: 'The headers, or the address, are longer than 16 KiB',
    code: 'bad_request',
  },
  429: {
    name: 'RateLimited',
    description: 'Too many attempts or waiting calls; Retry-After says when to try again',
  },
  500: { name: 'Internal', description: 'Unexpected; the request id finds it in the log' },
  502: { name: 'BadGateway', description: 'Another server failed' },
  503: { name: 'Unavailable', description: 'A part of the server is not available' },
  504: { name: 'Timeout', description: 'It took too long and was stopped' },
  507: {
    name: 'InsufficientStorage',
    description: 'No room is left: on the disk of the server, or of what the caller may store',
    code: 'quota_exceeded',
  },
};

/**
 * The OpenAPI 3.1 document of a router. The generator does not know our errors, statuses, credentials and free-form
 * bodies; they are added from the same `meta` that the REST bridge reads, so the two cannot disagree.
 *
 * @param paths of plain routes that are no procedures (uploads, streams)
 * @throws Error when a schema cannot be described
 */
export function buildDocument(
  router: AnyRouter,
  paths: GenerateOpenApiDocumentOptions['paths'] = {},
): OpenAPIObject {
  const document = generateOpenApiDocument(router as unknown as OpenApiRouter, {
    title: 'Parley',
    description: DESCRIPTION,
    version: project.version,
    license: { name: project.license, identifier: project.license },
    baseUrl: REST_PREFIX,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'The token of a sign-in, or an API key' },
      apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      cookie: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Set by signing in' },
    },
    paths,
    defs: { Error: failure() },
  });
  for (const procedure of listProcedures(router)) {
    const rest = procedure.meta?.openapi;
    if (rest) mend(document, procedure, rest);
  }
  const tidied = tidy(document);
  addExamples(tidied);
  return tidied;
}

/** The text of the committed file. */
export const renderDocument = (document: OpenAPIObject): string => `${JSON.stringify(document, null, 2)}\n`;

function mend(document: OpenAPIObject, procedure: Procedure, rest: Rest) {
  const path = `/${rest.path.replaceAll(/^\/|\/$/g, '')}`;
  const operation = document.paths?.[path]?.[rest.method.toLowerCase() as 'get'];
  if (!operation) throw new Error(`${procedure.path} is missing in the document`);
  operation.operationId = procedure.path;
  operation['x-access'] = procedure.meta?.access;
  if (procedure.meta?.credential) operation['x-credential'] = procedure.meta.credential;
  if (procedure.meta?.level === 'open') operation.security = [];
  if (rest.bodyMember === undefined) mendBodyRequired(document, operation);
  else mendBodyMember(document, operation, rest.bodyMember, rest.acceptWrapped ?? false);
  if (rest.query) moveToQuery(document, operation, rest.query);
  mendResponses(operation, procedure, rest);
}

/** Where the body *is* one member of the input, the other members come from the query. */
function mendBodyMember(
  document: OpenAPIObject,
  operation: Operation,
  bodyMember: string,
  acceptWrapped: boolean,
) {
  const media = jsonBody(operation);
  const whole = media?.schema && resolve(document, media.schema);
  const member = whole?.properties?.[bodyMember];
  if (!media || !whole || !member) throw new Error(`${operation.operationId}: no member "${bodyMember}"`);
  const wrapped = { type: 'object' as const, properties: { [bodyMember]: member }, required: [bodyMember] };
  media.schema = acceptWrapped ? { anyOf: [member, wrapped] } : member;
  for (const [name, schema] of Object.entries(whole.properties ?? {})) {
    if (name === bodyMember) continue;
    const required = whole.required?.includes(name) ?? false;
    operation.parameters = [...(operation.parameters ?? []), { in: 'query', name, schema, required }];
  }
  if (operation.requestBody && 'content' in operation.requestBody) {
    operation.requestBody.required = whole.required?.includes(bodyMember) ?? false;
  }
}

/** Members that the query may give are described there alone. A body without other members is left out. */
function moveToQuery(document: OpenAPIObject, operation: Operation, names: readonly string[]) {
  const media = jsonBody(operation);
  const whole = media?.schema && resolve(document, media.schema);
  if (!media || !whole) throw new Error(`${operation.operationId}: no body`);
  const { properties = {}, required = [] } = whole;
  const moved = names.map((name) => {
    const schema = properties[name];
    if (!schema) throw new Error(`${operation.operationId}: no member "${name}"`);
    return { in: 'query' as const, name, schema, required: required.includes(name) };
  });
  operation.parameters = [...(operation.parameters ?? []), ...moved];
  const rest = Object.entries(properties).filter(([name]) => !names.includes(name));
  if (rest.length === 0) delete operation.requestBody;
  else {
    const stillRequired = required.filter((name) => !names.includes(name));
    media.schema = { ...whole, properties: Object.fromEntries(rest), required: stillRequired };
  }
}

/** A body whose members are all optional may be left out. */
function mendBodyRequired(document: OpenAPIObject, operation: Operation) {
  const schema = jsonBody(operation)?.schema;
  const body = operation.requestBody;
  if (!schema || !body || !('content' in body)) return;
  const { type, properties, required } = resolve(document, schema);
  if (type === 'object' && properties && !required?.length) body.required = false;
}

function mendResponses(operation: Operation, procedure: Procedure, rest: Rest) {
  const success = operation.responses?.[200];
  const declared = Object.keys(
    Array.isArray(rest.errorResponses)
      ? Object.fromEntries(rest.errorResponses.map((status) => [status, true]))
      : (rest.errorResponses ?? {}),
  );
  const statuses = [...new Set([...failuresOf(operation, procedure), ...declared])].sort();
  operation.responses = { [rest.status ?? 200]: success };
  for (const status of statuses) {
    const name = FAILURES[status]?.name;
    if (!name) throw new Error(`${procedure.path}: the status ${status} has no description`);
    operation.responses[status] = { $ref: `#/components/responses/${name}` };
  }
}

/** The statuses of failures, from the inputs and the access of the operation. */
function failuresOf(operation: Operation, { inputs, meta, type }: Procedure): string[] {
  // Every call waits for a turn of its caller, in a queue of bounded length.
  const statuses = ['429', '431', '500', '503'];
  if ((meta?.changes || type === 'mutation') && !isWhenFull(meta)) statuses.push('507');
  if (inputs.length > 0) statuses.push('400');
  if (meta?.level !== 'open') {
    statuses.push('401');
    // An API key may be bound to other paths, and a cookie from another origin may not change anything.
    statuses.push('403');
  }
  if (operation.parameters?.some((parameter) => 'in' in parameter && parameter.in === 'path')) {
    statuses.push('404');
  }
  if (operation.requestBody) statuses.push('413', '415');
  return statuses;
}

/** Replaces the generator's failures by one shared component, and sorts paths and components. */
function tidy(document: OpenAPIObject): OpenAPIObject {
  const { schemas = {}, ...components } = document.components ?? {};
  const responses = Object.entries(FAILURES).map(([status, { name, description, code }]) => {
    const example = exampleOf(Number(status), code);
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, example } };
    return [name, { description, content }] as const;
  });
  for (const [path, operations] of Object.entries(document.paths ?? {})) describeParameters(path, operations);
  const kept = Object.entries(schemas).filter(([name]) => !name.startsWith('error.'));
  const used = JSON.stringify(document.paths);
  return {
    ...document,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    // For plain routes, which declare none.
    security: Object.keys(components.securitySchemes ?? {}).map((scheme) => ({ [scheme]: [] })),
    paths: sorted(Object.entries(document.paths ?? {})),
    components: {
      ...components,
      schemas: sorted(kept),
      responses: sorted(responses.filter(([name]) => used.includes(`"#/components/responses/${name}"`))),
    },
  };
}

/** The body of a failure of a status. */
function exampleOf(status: number, named: ErrorCode | undefined) {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const code = named ?? codes.find((one) => ERRORS[one].status === status);
  if (!code) throw new Error(`The status ${status} has no code`);
  const { detail } = ERRORS[code];
  if (code === 'validation') {
    const issue = { path: 'name', message: 'must be a text' };
    return { detail: `${issue.path}: ${issue.message}`, code, issues: [issue] };
  }
  return { detail, code, ...(status === 500 && { request_id: 'k3v9ab-1f' }) };
}

function describeParameters(path: string, operations: object) {
  for (const operation of Object.values(operations) as Partial<Operation>[]) {
    for (const parameter of operation.parameters ?? []) {
      if (!('name' in parameter)) continue;
      const description = parameter.description ?? describeParameter(path, parameter.name);
      if (description !== undefined) parameter.description = description;
    }
  }
}

const sorted = <T>(entries: (readonly [string, T])[]): Record<string, T> =>
  Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));

function jsonBody({ requestBody }: Operation) {
  return requestBody && 'content' in requestBody ? requestBody.content['application/json'] : undefined;
}

function resolve(
  document: OpenAPIObject,
  schema: Schema | { $ref: string },
): Exclude<Schema, { $ref: string }> {
  if (!('$ref' in schema) || typeof schema.$ref !== 'string')
    return schema as Exclude<Schema, { $ref: string }>;
  const found = document.components?.schemas?.[schema.$ref.split('/').at(-1) ?? ''];
  if (!found) throw new Error(`${schema.$ref} is missing in the document`);
  return resolve(document, found);
}
