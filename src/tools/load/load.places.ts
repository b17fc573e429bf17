import { z } from 'zod';
import { AppError } from '../../core/errors.ts';

/** The location of a tool's source, from an address. `name` is a suggestion for the tool's name. */
export type Place = { kind: 'file'; url: string; name: string } | Folder;

interface Folder {
  kind: 'folder';
  name: string;
  /** The address of a file in the folder; null when that requires a list of the files. */
  file: ((name: string) => string) | null;
  /** Addresses that list the files, tried in turn: a path does not show where the name of a branch ends. */
  lists: string[];
  /** The schema of such a list. */
  read: z.ZodType<FolderFile[]>;
}

export interface FolderFile {
  name: string;
  /** Absent when `file` makes the address. */
  url?: string;
}

/** File names that say nothing about the tool; the name of the folder is used instead. */
const NAMELESS = new Set(['main', 'index', '__init__', 'tool', 'tools']);

/** Branch names may hold slashes; longer names are not tried. */
const REF_SEGMENTS = 4;

const Listed = z
  .array(z.object({ name: z.string(), type: z.string() }))
  .transform((entries) => entries.filter(({ type }) => type === 'file' || type === 'blob'));
const Gist = z
  .object({ files: z.record(z.string(), z.object({ filename: z.string(), raw_url: z.string() })) })
  .transform(({ files }) =>
    Object.values(files).map(({ filename, raw_url }) => ({ name: filename, url: raw_url })),
  );

/**
 * Maps addresses of pages of GitHub, GitLab and Codeberg to the files or folders that they show; any other
 * address is that of a file.
 */
export function findPlace(url: URL): Place {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  return HOSTS[url.hostname]?.(url, segments) ?? fileAt(url.href, segments);
}

const HOSTS: Record<string, (url: URL, segments: string[]) => Place | undefined> = {
  'github.com': atGitHub,
  'www.github.com': atGitHub,
  'gist.github.com': atGist,
  'gitlab.com': atGitLab,
  'codeberg.org': atCodeberg,
};

function atGitHub(url: URL, segments: string[]): Place | undefined {
  const [owner = '', repository = '', view, ...rest] = segments;
  if (!repository) return undefined;
  const raw = (path: string[]) => at(url, 'raw.githubusercontent.com', [owner, repository, ...path]);
  if ((view === 'blob' || view === 'raw') && rest.length > 1)
    return fileAt(raw(rest), within(repository, rest));
  if (view !== undefined && view !== 'tree') return undefined;
  const shown = rest.length > 0 ? rest : ['HEAD'];
  return {
    kind: 'folder',
    name: nameOf(rest.length > 1 ? rest : [repository]),
    file: (name) => raw([...shown, name]),
    lists: splits(shown).map(({ ref, path }) =>
      at(url, 'api.github.com', ['repos', owner, repository, 'contents', ...path], { ref }),
    ),
    read: Listed,
  };
}

function atGist(url: URL, segments: string[]): Place | undefined {
  // The owner or the revision may be missing. An id is a long hexadecimal number, and no view has such a
  // name.
  const [owner = '', ...rest] = segments;
  const [id, view] = /^[0-9a-f]{20,}$/.test(owner) ? [owner, rest[0]] : rest;
  if (!id || view === 'raw') return undefined;
  const revision = view && /^[0-9a-f]{7,}$/.test(view) ? [view] : [];
  return {
    kind: 'folder',
    name: nameOf([id]),
    file: null,
    lists: [at(url, 'api.github.com', ['gists', id, ...revision])],
    read: Gist,
  };
}

function atGitLab(url: URL, segments: string[]): Place | undefined {
  const mark = segments.indexOf('-');
  const project = mark < 0 ? segments : segments.slice(0, mark);
  const [view, ...rest] = mark < 0 ? ['tree'] : segments.slice(mark + 1);
  const here = (path: string[], query = {}) => at(url, url.hostname, path, query);
  if (view === 'snippets' && rest.length === 1) return fileAt(here([...segments, 'raw']), rest);
  if (project.length < 2) return undefined;
  const raw = (path: string[]) => here([...project, '-', 'raw', ...path]);
  if ((view === 'blob' || view === 'raw') && rest.length > 1)
    return fileAt(raw(rest), within(project.at(-1) ?? '', rest));
  if (view !== 'tree') return undefined;
  const shown = rest.length > 0 ? rest : ['HEAD'];
  const id = encodeURIComponent(project.map(decode).join('/'));
  return {
    kind: 'folder',
    name: nameOf(rest.length > 1 ? rest : project),
    file: (name) => raw([...shown, name]),
    lists: splits(shown).map(({ ref, path }) =>
      here(['api', 'v4', 'projects', id, 'repository', 'tree'], {
        ref,
        path: path.map(decode).join('/'),
        per_page: '100',
      }),
    ),
    read: Listed,
  };
}

function atCodeberg(url: URL, segments: string[]): Place | undefined {
  const [owner = '', repository = '', view, kind = '', ...rest] = segments;
  const here = (path: string[], query = {}) => at(url, url.hostname, path, query);
  const api = (path: string[], query = {}) => here(['api', 'v1', 'repos', owner, repository, ...path], query);
  if (!repository) return undefined;
  if (view === undefined) {
    const file = (name: string) => api(['raw', name]);
    return { kind: 'folder', name: nameOf([repository]), file, lists: [api(['contents'])], read: Listed };
  }
  if (!['branch', 'tag', 'commit'].includes(kind) || rest.length === 0) return undefined;
  const raw = (path: string[]) => here([owner, repository, 'raw', kind, ...path]);
  if (view === 'raw') return fileAt(raw(rest), within(repository, rest));
  if (view !== 'src') return undefined;
  // Addresses of files and of folders look the same here.
  if (rest.at(-1)?.endsWith('.py')) return fileAt(raw(rest), within(repository, rest));
  return {
    kind: 'folder',
    name: nameOf(rest.length > 1 ? rest : [repository]),
    file: (name) => raw([...rest, name]),
    lists: splits(rest).map(({ ref, path }) => api(['contents', ...path], { ref })),
    read: Listed,
  };
}

/** The path of a file after the repository, without the branch, which would be a poor name for a tool. */
const within = (repository: string, [_ref, ...path]: string[]) => [repository, ...path];

/** All splits of the segments into a branch, tag or commit and a path, the shortest first. */
const splits = (segments: string[]) =>
  segments.slice(0, REF_SEGMENTS).map((_, index) => ({
    ref: segments
      .slice(0, index + 1)
      .map(decode)
      .join('/'),
    path: segments.slice(index + 1),
  }));

/** An address on another host of the same site, with the scheme and the port of the given one. */
function at(
  { protocol, port }: URL,
  host: string,
  segments: string[],
  query: Record<string, string> = {},
): string {
  const url = new URL(`${protocol}//${host}/${segments.join('/')}`);
  url.port = port;
  url.search = new URLSearchParams(query).toString();
  return url.href;
}

const fileAt = (url: string, segments: string[]): Place => ({ kind: 'file', url, name: nameOf(segments) });

/**
 * Suggests a name: the last part of the path, or the part before when the last one says nothing. Empty when
 * there is none.
 */
export function suggestName(path: string[]): string {
  const [folder = '', file = folder] = path.slice(-2);
  const base = file.replace(/\.py$/, '');
  return NAMELESS.has(base) && folder !== file ? folder : base;
}

const nameOf = (segments: string[]) => suggestName(segments.map(decode));

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new AppError('address_refused', {
      detail: `The address holds ${segment}, which is no text.`,
      cause,
    });
  }
}
