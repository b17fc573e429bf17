import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { isStorable, LIMITS } from '../../core/wire.ts';
import type { EgressResponse } from '../../egress/egress.ts';
import { type FolderFile, findPlace, type Place, suggestName } from './load.places.ts';

/** For all requests of one load together. */
const TIMEOUT_MS = 10_000;
/** File names of the tool in a folder, the likeliest first. */
const NAMES = ['main.py', 'tool.py', 'tools.py'];
const MAX_NAME = 256;

export interface LoadedSource {
  /** A suggestion, from the file or its folder. */
  name: string;
  content: string;
}

/**
 * Loads the source of a tool from the network, without storing or running it.
 *
 * @throws tool_forbidden, address_refused, answer_too_large, bad_request with the reason, upstream_failed
 */
export async function loadFromUrl(scope: Scope, address: string): Promise<LoadedSource> {
  if (scope.actor.role !== 'admin') throw new AppError('tool_forbidden');
  const place = findPlace(scope.egress.check(address));
  const get = openGet(scope);
  const { name, answer } = place.kind === 'file' ? await loadFile(place, get) : await loadFolder(place, get);
  return { name: [...name].slice(0, MAX_NAME).join('') || 'tool', content: readSource(answer) };
}

/**
 * Requests that share one time limit. They accept only an answer with status 200, and return undefined when
 * the address does not exist.
 */
function openGet({ egress, signal }: Scope): Get {
  const deadline = performance.now() + TIMEOUT_MS;
  return async (url) => {
    try {
      const timeoutMs = Math.floor(deadline - performance.now());
      if (timeoutMs <= 0) throw new AppError('upstream_timeout');
      const bounds = { maxBytes: LIMITS.toolContentBytes, timeoutMs, ...(signal && { signal }) };
      return requireAnswer(await egress.fetch(url, bounds));
    } catch (error) {
      // A timeout is reported like other failures of the other server.
      if (!(error instanceof AppError) || error.code !== 'upstream_timeout') throw error;
      const detail = `${new URL(url).host} did not answer within ${TIMEOUT_MS / 1000} s.`;
      throw new AppError('upstream_failed', { detail, cause: error });
    }
  };
}

type Get = (url: string) => Promise<EgressResponse | undefined>;

interface Found {
  name: string;
  answer: EgressResponse;
}

async function loadFile({ url, name }: Extract<Place, { kind: 'file' }>, get: Get): Promise<Found> {
  const answer = await get(url);
  if (!answer) throw refused(`There is nothing under ${url}.`);
  return { name, answer };
}

async function loadFolder(folder: Extract<Place, { kind: 'folder' }>, get: Get): Promise<Found> {
  for (const name of folder.file ? NAMES : []) {
    const answer = await get(folder.file?.(name) ?? '');
    if (answer) return { name: folder.name, answer };
  }
  const { name, url = folder.file?.(name) } = chooseFile(await listFolder(folder, get));
  const answer = url === undefined ? undefined : await get(url);
  if (!answer) throw refused(`The file ${name} of that folder cannot be read.`);
  return { name: suggestName([folder.name, name]), answer };
}

async function listFolder(folder: Extract<Place, { kind: 'folder' }>, get: Get): Promise<FolderFile[]> {
  for (const url of folder.lists) {
    const answer = await get(url);
    if (!answer) continue;
    const listed = folder.read.safeParse(parseJson(answer.body.toString()));
    if (listed.success) return listed.data;
    throw new AppError('upstream_failed', { detail: `What ${url} says is not a list of files.` });
  }
  throw refused('There is no such folder, or it is not public.');
}

/** @throws bad_request unless one file has a tool's name, or exactly one is Python */
function chooseFile(files: FolderFile[]): FolderFile {
  const sources = files.filter(({ name }) => name.endsWith('.py'));
  const chosen = NAMES.map((name) => sources.find((file) => file.name === name)).find((file) => file);
  const [only] = sources;
  if (chosen) return chosen;
  if (!only) throw refused('The folder holds no Python file.');
  if (sources.length === 1) return only;
  const names = sources.map(({ name }) => name).slice(0, 5);
  throw refused(`The folder holds several Python files (${names.join(', ')}). Give the address of one.`);
}

function requireAnswer(answer: EgressResponse): EgressResponse | undefined {
  const { status, headers, url } = answer;
  if (status === 200) return answer;
  if (status === 404 || status === 410) return undefined;
  const isBusy = status === 429 || headers.get('x-ratelimit-remaining') === '0';
  if (status < 500 && !isBusy) throw refused(`${url} answered with status ${status}.`);
  const detail = isBusy
    ? `${new URL(url).host} lets this server ask no more for now. Try again later, or give the address of the file itself.`
    : `${url} answered with status ${status}.`;
  throw new AppError('upstream_failed', { detail });
}

/** @throws bad_request unless the answer is text and not an HTML page */
function readSource({ body, headers }: EgressResponse): string {
  const content = decodeUtf8(body);
  if (content === undefined || !isStorable(content)) throw refused('That is not a text in UTF-8.');
  if (content.trim() === '') throw refused('The file is empty.');
  if (headers.get('content-type')?.startsWith('text/html') || /^\s*<(!doctype|html)/i.test(content)) {
    throw refused('That is a page for people. Give the address of the source itself.');
  }
  return content;
}

function decodeUtf8(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const refused = (detail: string) => new AppError('bad_request', { detail });
