import type { FastifyRequest } from 'fastify';
import { isObject } from '../../core/json/json.ts';
import { joinShapes, type Shape } from '../../core/schema/schema.ts';
import { findIgnored, planKnown, planKnownInput } from '../http/ignored.ts';
import type { Procedure } from '../http/procedures.ts';
import { leaveOutEmpty, planReaders, type Reader } from './rest.query.ts';

/** The input of a call, and the names of unknown members. */
export interface ReadInput {
  input: unknown;
  ignored: Set<string> | undefined;
}

export type InputReader = (request: FastifyRequest) => ReadInput;
type Members = Record<string, unknown>;
type Query = Record<string, string | string[]>;

const PARAMETER = /\{(\w+)\}/g;
const parametersOf = (path: string) => [...path.matchAll(PARAMETER)].map(([, name]) => name as string);

/**
 * Decides once, at start, where the input of an endpoint comes from: the path, then the query (GET, DELETE), or the
 * body. A name in the path is read only there; the same name in the query or the body is an unknown member.
 *
 * @throws Error for an endpoint whose declaration contradicts its input
 */
export function planInput({ path, inputs, meta }: Procedure): InputReader {
  const rest = meta?.openapi;
  if (!rest) throw new Error(`${path} has no REST route`);
  const parameters = parametersOf(rest.path);
  const shape = inputs.length === 0 ? new Map() : joinShapes(inputs);
  const { bodyMember } = rest;
  for (const name of bodyMember === undefined ? parameters : [...parameters, bodyMember]) {
    if (!shape?.has(name)) throw new Error(`${path}: the input has no member "${name}"`);
  }
  const takesBody = rest.method !== 'GET' && rest.method !== 'DELETE';
  if (bodyMember !== undefined && !takesBody) throw new Error(`${path}: ${rest.method} takes no body`);

  const sources = { parameters, shape, readers: planReaders(shape ?? new Map()) };
  // Only reads: an empty filter of a deletion must not become none.
  if (rest.method === 'GET' && shape) sources.readers = leaveOutEmpty(sources.readers, shape);
  if (!takesBody) return readFromQuery(sources, inputs.length > 0);
  if (bodyMember !== undefined) return readBodyMember(sources, bodyMember, rest.acceptWrapped ?? false);
  return readFromBody(sources, inputs, rest.query ?? []);
}

interface Sources {
  parameters: string[];
  /** Undefined when the input is no plain object: it gets the body unchanged. */
  shape: Shape | undefined;
  readers: Map<string, Reader>;
}

/** Adds the parameters of the path to the input, in place. */
function addParameters({ parameters, readers }: Sources, request: FastifyRequest, input: Members) {
  const params = request.params as Record<string, string>;
  for (const name of parameters) input[name] = readers.get(name)?.(params[name] ?? '');
}

/** Adds the known members of the query that neither path nor body has; returns the names of the others. */
function addQuery(readers: Map<string, Reader>, request: FastifyRequest, input: Members) {
  let ignored: Set<string> | undefined;
  const query = request.query as Query;
  for (const name in query) {
    const reader = readers.get(name);
    if (reader) input[name] = reader(query[name] as string | string[]);
    else ignored = (ignored ?? new Set()).add(name);
  }
  return ignored;
}

const without = <V>(map: ReadonlyMap<string, V>, names: readonly string[]) =>
  new Map([...map].filter(([name]) => !names.includes(name)));

function readFromQuery(sources: Sources, hasInput: boolean): InputReader {
  const readers = without(sources.readers, sources.parameters);
  return (request) => {
    if (hasInput && !sources.shape) return { input: request.query, ignored: undefined };
    const input: Members = {};
    const ignored = addQuery(readers, request, input);
    addParameters(sources, request, input);
    return { input: hasInput ? input : undefined, ignored };
  };
}

function readBodyMember(sources: Sources, bodyMember: string, acceptWrapped: boolean): InputReader {
  const readers = without(sources.readers, [...sources.parameters, bodyMember]);
  const schema = sources.shape?.get(bodyMember);
  const known = schema ? planKnown(schema) : null;
  return (request) => {
    const input: Members = {};
    const ignored = addQuery(readers, request, input);
    const body = acceptWrapped ? unwrapped(request.body, bodyMember) : request.body;
    if (body !== undefined) input[bodyMember] = body;
    addParameters(sources, request, input);
    return { input, ignored: union(ignored, findIgnored(known, body)) };
  };
}

/** The value of a body that is exactly `{member: value}`. */
const unwrapped = (body: unknown, member: string) =>
  isObject(body) && member in body && Object.keys(body).length === 1 ? body[member] : body;

/** @param fromQuery members that the query may give; the body goes before it */
function readFromBody(
  sources: Sources,
  inputs: Procedure['inputs'],
  fromQuery: readonly string[],
): InputReader {
  const { shape, parameters } = sources;
  const known = planKnownInput(inputs, parameters);
  const readers = new Map([...sources.readers].filter(([name]) => fromQuery.includes(name)));
  return (request) => {
    const { body } = request;
    const given: Members = {};
    const ignored = union(addQuery(readers, request, given), findIgnored(known, body));
    if (inputs.length === 0) return { input: undefined, ignored };
    if (body === undefined || isObject(body)) {
      if (!shape) return { input: body, ignored };
      const input = fromQuery.length > 0 ? { ...given, ...body } : (body ?? {});
      addParameters(sources, request, input);
      return { input, ignored };
    }
    return { input: body, ignored };
  };
}

const union = (one: Set<string> | undefined, other: Set<string> | undefined) =>
  one && other ? new Set([...one, ...other]) : (one ?? other);
