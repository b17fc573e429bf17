import { describe, expect, it } from 'vitest';
import { type $ZodType, safeParse } from 'zod/v4/core';
import { buildDocument, renderDocument } from '../../src/doors/docs/docs.document.ts';
import { type Described, exampleOf } from '../../src/doors/docs/docs.examples.ts';
import { PLAIN_PATHS } from '../../src/doors/docs/docs.paths.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';

interface Media {
  schema: Described;
  example?: unknown;
}
interface Operation {
  operationId: string;
  parameters?: { name: string; required?: boolean; schema: Described }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

const { paths, components } = JSON.parse(renderDocument(buildDocument(appRouter, PLAIN_PATHS)));
const schemas: Record<string, Described> = components.schemas;
const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
  Object.values(methods).flatMap((operation) => (operation.responses ? [{ ...operation, path }] : [])),
);
const procedures = new Map(listProcedures(appRouter).map((procedure) => [procedure.path, procedure]));

const answerOf = ({ responses }: Operation) =>
  Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content?.['application/json'];

/** The example beside the schema, or that of the component that the schema refers to. */
const exampleIn = ({ schema, example }: Media) =>
  example ?? schemas[schema.$ref?.split('/').at(-1) ?? '']?.examples?.[0];

function problems(schemas: readonly $ZodType[], value: unknown): string[] {
  const results = schemas.map((schema) => safeParse(schema, structuredClone(value)));
  return results.flatMap(({ error }) =>
    (error?.issues ?? []).map(({ path, message }) => `${path}: ${message}`),
  );
}

describe('the examples of openapi/openapi.json', () => {
  it('exist for every request body and every JSON answer', () => {
    const missing = operations.flatMap((operation) => {
      const bodies = [...Object.values(operation.requestBody?.content ?? {}), answerOf(operation)];
      const without = bodies.some((media) => media && exampleIn(media) === undefined);
      return without ? [operation.operationId] : [];
    });
    expect(missing).toEqual([]);
  });

  it('are valid bodies for the procedures', () => {
    const refused = operations.flatMap(({ operationId, path, parameters = [], requestBody }) => {
      const procedure = procedures.get(operationId);
      const body = requestBody?.content['application/json']?.example;
      if (!procedure || body === undefined) return [];
      const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
      const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
      const named =
        required.length > 0 ? exampleOf({ type: 'object', properties, required }, schemas, path) : {};
      const member = procedure.meta?.openapi?.bodyMember;
      const input = { ...(named as object), ...(member ? { [member]: body } : (body as object)) };
      return problems(procedure.inputs, input).map((problem) => `${operationId}: ${problem}`);
    });
    expect(refused).toEqual([]);
  });

  it('are valid answers of the procedures', () => {
    const refused = operations.flatMap((operation) => {
      const { operationId } = operation;
      const output = procedures.get(operationId)?.output;
      const media = answerOf(operation);
      if (!output || !media) return [];
      return problems([output], exampleIn(media)).map((problem) => `${operationId}: ${problem}`);
    });
    expect(refused).toEqual([]);
  });
});
