import type { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { isObject } from '../../core/json/json.ts';
import type { Scope } from '../../core/scope.ts';
import { MASK } from '../../core/secrets/masks.ts';
import type { ToolServer } from '../configs.terms.ts';
import type { Tree } from '../settings/configs.settings.ts';

type Connection = z.output<typeof ToolServer>;

const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

const refused = (detail: string) => new AppError('bad_request', { detail });

/**
 * Requests the OpenAPI description of a tool server, to test a connection. Stores nothing. A mask in place of a secret stands for the
 * stored secret of the same address.
 *
 * @returns the description
 * @throws bad_request for a server without an OpenAPI description, address_refused, upstream_failed, upstream_timeout
 */
export async function verifyToolServer(scope: Scope, sent: Connection): Promise<Tree> {
  if (sent.type !== 'openapi') throw refused('This version connects to OpenAPI servers only.');
  const answer = await scope.egress.fetch(addressOf(sent), {
    headers: { accept: 'application/json', ...headersOf(withStored(scope, sent)) },
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
    ...(scope.signal && { signal: scope.signal }),
  });
  if (answer.status !== 200) throw refused(`The server answered with status ${answer.status}.`);
  const description = parse(answer.body.toString());
  if (!isObject(description) || !isObject(description.paths)) {
    throw refused('What the server answered is no OpenAPI description in JSON.');
  }
  return description;
}

/** The path may be a whole address. */
const addressOf = ({ url, path }: Connection): string =>
  /^https?:\/\//i.test(path) ? path : `${url.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;

/** The connection with the stored secrets of the same addresses in place of masks. */
function withStored({ configs }: Scope, sent: Connection): Connection {
  const stored = configs.current.tool_server.connections.find((one) => addressOf(one) === addressOf(sent));
  const restored = (value: unknown, own: unknown) => (value === MASK ? (own ?? '') : value);
  const headers = Object.entries(sent.headers ?? {}).map(
    ([name, value]) => [name, restored(value, stored?.headers?.[name])] as const,
  );
  return {
    ...sent,
    key: restored(sent.key, stored?.key) as string | null,
    headers: Object.fromEntries(headers),
  };
}

/** @throws bad_request for names and values that no header may have */
function headersOf({ auth_type, key, headers }: Connection): Record<string, string> {
  const all: [string, unknown][] = Object.entries(headers ?? {});
  if (auth_type === 'bearer' && key) all.push(['authorization', `Bearer ${key}`]);
  return Object.fromEntries(
    all.map(([name, value]) => {
      const text = String(value);
      const isSendable = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
      if (!isSendable) throw refused(`The header ${JSON.stringify(name)} cannot be sent.`);
      return [name.toLowerCase(), text];
    }),
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
