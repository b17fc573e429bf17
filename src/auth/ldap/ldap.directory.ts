import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ConnectionOptions, rootCertificates } from 'node:tls';
import type { Client, Entry, Filter } from 'ldapts';
import { AppError } from '../../core/errors.ts';
import { type Env, StartError } from '../../env.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    /** Null unless the environment configures a directory. */
    readonly directory: Directory | null;
  }
}

/** A person's entry in the directory. An attribute may have any number of values. */
export interface DirectoryEntry {
  dn: string;
  /** An id that survives renames and moves, if the directory has one; else the name of the entry. */
  subject: string;
  values(attribute: string): string[];
}

export interface Directory {
  /** The address of the directory, for administrators. */
  readonly url: string;
  /** The name of the entry below which people are searched. */
  readonly base: string;
  readonly attributes: Readonly<Record<'mail' | 'username' | 'name' | 'groups', string>>;
  readonly mayMerge: boolean;
  /** The fields updated at each sign-in. */
  readonly update: { name: boolean; email: boolean };
  readonly groups: { manage: boolean; create: boolean };
  /** The groups that decide roles: group names, or full distinguished names. */
  readonly roles: { manage: boolean; admin: readonly string[]; allowed: readonly string[] };
  /** The search filter for a user name, as text. The user name is escaped. */
  filterFor(username: string): string;
  /** Connects and binds as the search account. */
  open(): Promise<Client>;
  /** The entries that match the filter, at most two. Callers treat two matches as none. */
  search(client: Client, username: string): Promise<DirectoryEntry[]>;
  /** Whether an entry has this password, checked by a bind on a separate connection. */
  verify(dn: string, password: string): Promise<boolean>;
  close(client: Client): Promise<void>;
  /** Describes an error for administrators. */
  describe(error: unknown): string;
}

const TIMEOUT_MS = 5_000;
const PORT = 389;
const TLS_PORT = 636;
/**
 * Result codes of a bind that mean refusal: no such entry (32), invalid name (34), no password to compare
 * (48), wrong password (49), and the codes for locked accounts and expired passwords (19, 53). RFC 4511,
 * appendix A.
 */
const REFUSALS: ReadonlySet<number> = new Set([19, 32, 34, 48, 49, 53]);
/** Ids that directories give entries: RFC 4530, and Active Directory's, which is binary. */
const ENTRY_ID = 'entryUUID';
const OBJECT_ID = 'objectGUID';

/**
 * @throws StartError for a missing search base, a search account without a password, and an unusable filter or
 *   file
 */
export async function createDirectory(env: Env): Promise<Directory | null> {
  if (!env.ENABLE_LDAP) return null;
  // Loaded on demand: most installations have no directory, and the library takes memory.
  const library = await import('ldapts');
  if (env.LDAP_SEARCH_BASE === '') throw wrong('LDAP_SEARCH_BASE', 'it must be set where ENABLE_LDAP is');
  if (env.LDAP_APP_DN !== undefined && !env.LDAP_APP_PASSWORD?.trim()) {
    // A bind with a name and no password is an anonymous bind.
    throw wrong('LDAP_APP_PASSWORD', 'it must be set where LDAP_APP_DN is');
  }
  const server = serverOf(env);
  const more = env.LDAP_SEARCH_FILTER === undefined ? null : parseFilter(library, env.LDAP_SEARCH_FILTER);
  return new LdapDirectory(library, env, server, more);
}

type Library = typeof import('ldapts');

const wrong = (name: string, what: string, cause?: unknown) =>
  new StartError(`The environment variable ${name} is wrong: ${what}.`, { cause });

interface Server {
  url: string;
  /** Whether the connection is encrypted from its first byte on. */
  isSecure: boolean;
  tlsOptions: ConnectionOptions;
}

function serverOf(env: Env): Server {
  const isSecure = env.LDAP_USE_TLS && !env.LDAP_START_TLS;
  const port = env.LDAP_SERVER_PORT ?? (isSecure ? TLS_PORT : PORT);
  const host = env.LDAP_SERVER_HOST.includes(':') ? `[${env.LDAP_SERVER_HOST}]` : env.LDAP_SERVER_HOST;
  return {
    url: `${isSecure ? 'ldaps' : 'ldap'}://${host}:${port}`,
    isSecure,
    tlsOptions: {
      // The host that the certificate must name. SNI is only for host names: RFC 6066, section 3.
      host: env.LDAP_SERVER_HOST,
      ...(isIP(env.LDAP_SERVER_HOST) === 0 && { servername: env.LDAP_SERVER_HOST }),
      rejectUnauthorized: env.LDAP_VALIDATE_CERT,
      ...(env.LDAP_CA_CERT_FILE && { ca: [...rootCertificates, readAuthority(env.LDAP_CA_CERT_FILE)] }),
    },
  };
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw wrong('LDAP_CA_CERT_FILE', 'the file cannot be read', cause);
  }
}

function parseFilter({ FilterParser }: Library, text: string): Filter {
  try {
    return FilterParser.parseString(text.startsWith('(') ? text : `(${text})`);
  } catch (cause) {
    throw wrong('LDAP_SEARCH_FILTER', 'it must be a filter such as (objectClass=person)', cause);
  }
}

class LdapDirectory implements Directory {
  readonly #library: Library;
  readonly #env: Env;
  readonly #server: Server;
  /** People must match this as well; null for no such filter. */
  readonly #more: Filter | null;
  readonly url: string;
  readonly base: string;
  readonly attributes: Directory['attributes'];
  readonly mayMerge: boolean;
  readonly update: Directory['update'];
  readonly groups: Directory['groups'];
  readonly roles: Directory['roles'];

  constructor(library: Library, env: Env, server: Server, more: Filter | null) {
    this.#library = library;
    this.#env = env;
    this.#server = server;
    this.#more = more;
    this.url = server.url;
    this.base = env.LDAP_SEARCH_BASE;
    this.attributes = {
      mail: env.LDAP_ATTRIBUTE_FOR_MAIL,
      username: env.LDAP_ATTRIBUTE_FOR_USERNAME,
      name: env.LDAP_ATTRIBUTE_FOR_NAME,
      groups: env.LDAP_ATTRIBUTE_FOR_GROUPS,
    };
    this.mayMerge = env.LDAP_MERGE_ACCOUNTS_BY_EMAIL;
    this.update = { name: env.LDAP_UPDATE_NAME_ON_LOGIN, email: env.LDAP_UPDATE_EMAIL_ON_LOGIN };
    this.groups = { manage: env.ENABLE_LDAP_GROUP_MANAGEMENT, create: env.ENABLE_LDAP_GROUP_CREATION };
    this.roles = {
      manage: env.ENABLE_LDAP_ROLE_MANAGEMENT,
      admin: env.LDAP_ADMIN_GROUPS,
      allowed: env.LDAP_ALLOWED_GROUPS,
    };
  }

  filterFor(username: string): string {
    return this.#filterFor(username).toString();
  }

  #filterFor(username: string): Filter {
    const { AndFilter, EqualityFilter } = this.#library;
    const isThem = new EqualityFilter({ attribute: this.attributes.username, value: username });
    return this.#more ? new AndFilter({ filters: [isThem, this.#more] }) : isThem;
  }

  open(): Promise<Client> {
    return this.#connect(async (client) => {
      const { LDAP_APP_DN, LDAP_APP_PASSWORD } = this.#env;
      if (LDAP_APP_DN !== undefined) await client.bind(LDAP_APP_DN, LDAP_APP_PASSWORD);
    });
  }

  async #connect(bind: (client: Client) => Promise<void>): Promise<Client> {
    const { url, isSecure, tlsOptions } = this.#server;
    const client = new this.#library.Client({
      url,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
      ...(isSecure && { tlsOptions }),
    });
    try {
      if (this.#env.LDAP_START_TLS) await client.startTLS(tlsOptions);
      await bind(client);
      return client;
    } catch (error) {
      await this.close(client);
      throw error;
    }
  }

  async search(client: Client, username: string): Promise<DirectoryEntry[]> {
    const { searchEntries } = await client.search(this.base, {
      scope: 'sub',
      filter: this.#filterFor(username),
      sizeLimit: 2,
      timeLimit: TIMEOUT_MS / 1000,
      attributes: [...Object.values(this.attributes), ENTRY_ID, OBJECT_ID],
      explicitBufferAttributes: [OBJECT_ID],
    });
    return searchEntries.map(readEntry);
  }

  async verify(dn: string, password: string): Promise<boolean> {
    // RFC 4513, 5.1.2: a bind with no password succeeds and proves nothing.
    if (dn === '' || password.trim() === '') return false;
    try {
      await this.close(await this.#connect((client) => client.bind(dn, password)));
      return true;
    } catch (error) {
      if (error instanceof this.#library.ResultCodeError && REFUSALS.has(error.code)) return false;
      throw error;
    }
  }

  close(client: Client): Promise<void> {
    return client.unbind().catch(() => {});
  }

  describe(error: unknown): string {
    if (error instanceof this.#library.ResultCodeError)
      return `The directory refuses (code ${error.code}): ${error.message}`;
    return error instanceof Error ? error.message : String(error);
  }
}

function readEntry(entry: Entry): DirectoryEntry {
  // Attribute names are case-insensitive.
  const byName = new Map(Object.entries(entry).map(([name, value]) => [name.toLowerCase(), value]));
  const all = (attribute: string): (string | Buffer)[] => [byName.get(attribute.toLowerCase()) ?? []].flat();
  const [objectId] = all(OBJECT_ID);
  const [entryId] = all(ENTRY_ID);
  const id = Buffer.isBuffer(objectId) ? objectId.toString('hex') : entryId?.toString();
  return {
    dn: entry.dn,
    subject: id || entry.dn.toLowerCase(),
    values: (attribute) =>
      all(attribute)
        .map((value) => value.toString().trim())
        .filter((value) => value !== ''),
  };
}

/** The error for the user when the directory fails; the log has the cause. */
export const unavailable = (cause: unknown): AppError =>
  new AppError('upstream_failed', { detail: 'The directory does not answer as expected.', cause });
