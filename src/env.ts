import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { readRedisAddress } from './core/processes/redis.address.ts';
import type { Worker } from './core/processes/workers.ts';
import { secretsOf } from './core/secrets/keys.ts';
import { filesUrl } from './env/files.ts';
import { settingVariables } from './env/settings.ts';
import { signInVariables } from './env/signin.ts';
import { telemetryVariables } from './env/telemetry.ts';
import { flag, list, port } from './env/values.ts';
import './core/schema/words.ts';
import { isAllowable } from './egress/allowed.ts';

/** Not `isValid` alone, which accepts `10.0.0` as the short form of an address. */
const isNetwork = (value: string) =>
  isIP(value.split('/', 1)[0] ?? '') !== 0 && (ipaddr.isValid(value) || ipaddr.isValidCIDR(value));

const isOrigin = (value: string) => URL.canParse(value) && new URL(value).origin === value;
const origin = z
  .string()
  .refine(
    (value) => value === '*' || isOrigin(value),
    'each entry must be an origin such as https://chat.example.com, or *',
  );

/** A shorter secret can be guessed. */
export const SECRET_CHARACTERS = 32;

const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
  .refine(
    (url) => URL.canParse(url),
    'must be an address such as postgresql://user:password@host:5432/database',
  );

const Env = z.object({
  /** Address to listen on; `0.0.0.0` for every interface. */
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port.default(8080),
  /** Database, uploads, Python environment, model on board, generated secret. */
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .transform((path) => resolve(path)),
  /** The bucket of uploads; without it they lie in DATA_DIR. */
  FILES_URL: filesUrl.optional(),
  /** A PostgreSQL of 15 or newer; without it an embedded one runs in DATA_DIR. */
  DATABASE_URL: postgresUrl.optional(),
  /** Set when DATABASE_URL leads to a pool in transaction mode: the way around it, for the connections that need a session. */
  DATABASE_SESSION_URL: postgresUrl.optional(),
  /** A replica of the database, which answers lists. */
  DATABASE_READ_URL: postgresUrl.optional(),
  /** Redis or Valkey for several processes: one server, a cluster, or the master that sentinels name. */
  REDIS_URL: z
    .string()
    .refine(
      (url) => readRedisAddress(url) !== null,
      'must be an address such as redis://host:6379, redis+cluster://host:6379,host:6379 or redis+sentinel://host:26379,host:26379/master-name; with rediss for TLS',
    )
    .optional(),
  /** How many processes of the server share the port; `auto`: one for each processor core that may be used. */
  WORKERS: z
    .string()
    .regex(/^(auto|[1-9]\d{0,2})$/, 'must be a whole number from 1 to 999, or auto')
    .transform((value) => (value === 'auto' ? availableParallelism() : Number(value)))
    .default(1),
  /** The secret of all keys; comma-separated older secrets still decrypt. Unset: made at the first start and kept in DATA_DIR. */
  SECRET_KEY: z
    .string()
    .refine(
      (list) => secretsOf(list).every((secret) => secret.length >= SECRET_CHARACTERS),
      'must have at least 32 characters, for example from: openssl rand -base64 48; so must older ones behind commas',
    )
    .optional(),
  /** `dev` serves /docs and /openapi.json; `test`, only for tests, hashes passwords at almost no cost. */
  ENV: z.enum(['dev', 'prod', 'test']).default('prod'),
  /** Origins that browsers may call from. */
  CORS_ALLOW_ORIGIN: list.pipe(z.array(origin)).default([]),
  /** How many days the events of channels are kept for clients that come back; 0: for ever. */
  EVENT_RETENTION_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number of days; 0 keeps events for ever')
    .transform(Number)
    .default(30),
  /** How many days the audit log goes back; 0: for ever. */
  AUDIT_RETENTION_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number of days; 0 keeps the audit log for ever')
    .transform(Number)
    .default(365),
  /** How many days records of the use of models are kept; 0: for ever. */
  USAGE_RETENTION_DAYS: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a whole number of days; 0 keeps the records for ever')
    .transform(Number)
    .default(365),
  /** How many seconds calls are still served after SIGTERM, while /ready answers 503. By default 5 with REDIS_URL, else 0. */
  SHUTDOWN_GRACE: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a whole number of seconds, at most 9999')
    .transform(Number)
    .optional(),
  /** Megabytes that must stay free in DATA_DIR; below that nothing is stored. 0: not checked, the default with a DATABASE_URL. */
  STORAGE_RESERVE_MB: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number of megabytes; 0 switches it off')
    .transform(Number)
    .optional(),
  /** The token by which programs without an account may read /metrics. */
  METRICS_TOKEN: z
    .string()
    .regex(
      /^[\x21-\x7e]{32,}$/,
      'must have at least 32 characters, none of them a space, for example from: openssl rand -hex 32',
    )
    .optional(),
  /** Addresses or CIDRs of proxies whose `X-Forwarded-For` and `-Proto` are believed. */
  TRUSTED_PROXIES: list
    .pipe(z.array(z.string().refine(isNetwork, 'each entry must be an address or a CIDR such as 10.0.0.0/8')))
    .default([]),
  /** The `X-Proxy-Secret` of a proxy on this machine, because tools have the same address. */
  PROXY_SECRET: z
    .string()
    .regex(
      /^[\x21-\x7e]{32,}$/,
      'must have at least 32 characters, none of them a space, for example from: openssl rand -hex 32',
    )
    .optional(),
  /** Targets that may be called beside the public network: addresses, CIDRs, host names. */
  EGRESS_ALLOW: list
    .pipe(
      z.array(
        z
          .string()
          .refine(
            isAllowable,
            'each entry must be an address, a CIDR such as 10.1.0.0/16, or a host name such as hooks.internal',
          ),
      ),
    )
    .default([]),
  /** `SameSite` of the cookie; `none` also needs https. */
  AUTH_COOKIE_SAME_SITE: z.enum(['lax', 'strict', 'none']).default('lax'),
  /** Whether the cookie is only for https; `auto` decides by the request. */
  AUTH_COOKIE_SECURE: z.union([z.literal('auto'), flag]).default('auto'),
  /** Event doors on or off. */
  ENABLE_WEBSOCKET_SUPPORT: flag.default(true),
  /** Interpreter for tools; found when not set. */
  PYTHON: z.string().min(1).optional(),
  /** The small model that comes with the server: `auto` offers it while no provider is configured. */
  EMBEDDED_MODEL: z.enum(['auto', 'off']).default('auto'),
  /** Switches web push on: the address at which push services reach the operator (RFC 8292, 2.1). */
  WEB_PUSH_CONTACT: z
    .string()
    .regex(
      /^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/,
      'must be mailto: and an e-mail address, or an https address',
    )
    .refine((url) => URL.canParse(url), 'must be mailto: and an e-mail address, or an https address')
    .optional(),
  /** The private key of web push (VAPID), as base64url; made at the first start of use and kept in the database unless given. */
  WEB_PUSH_PRIVATE_KEY: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}=?$/, 'must be a private key of P-256: 32 bytes as base64url')
    .optional(),
  ...signInVariables,
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  ...telemetryVariables,
});

export type Env = z.infer<typeof Env> & {
  /** The variables that pin settings of the configuration, as text; `configs.pins.ts` reads them. */
  SETTINGS: Readonly<Record<string, string>>;
  /** Set in the processes that a primary has started; null in the only process of a server. */
  worker: Worker | null;
};

/** How a primary tells a new process that it is a worker. */
const WORKER_VARIABLE = 'PARLEY_WORKER';
export const workerVariable = (worker: Worker) => ({ [WORKER_VARIABLE]: JSON.stringify(worker) });

/** A failure that an operator must cure. The message is one line: the fault and the cure. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/**
 * The environment as one typed object. An empty variable counts as not set, as in a shell's `NAME=`.
 *
 * @param flags of the command line; they win over variables
 *
 * @throws StartError naming the first variable that is wrong
 */
export function readEnv(source: NodeJS.ProcessEnv = process.env, flags: { workers?: string } = {}): Env {
  const set = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''));
  if (flags.workers !== undefined) set.WORKERS = flags.workers;
  const parsed = Env.safeParse(set);
  if (parsed.success) {
    requireProxySecret(parsed.data);
    requireDatabase(parsed.data);
    const worker = process.connected ? JSON.parse(set[WORKER_VARIABLE] ?? 'null') : null;
    return { ...parsed.data, SETTINGS: settingVariables(set), worker };
  }
  const [issue] = parsed.error.issues;
  // The line does not repeat the value: it may be a secret, and the line goes to logs.
  throw new StartError(`The environment variable ${String(issue?.path[0])} is wrong: ${issue?.message}.`);
}

/** Tools have the addresses of this machine, so a proxy on it needs a secret as well. */
function requireProxySecret({ TRUSTED_PROXIES, PROXY_SECRET }: z.infer<typeof Env>): void {
  const isHere = (entry: string) => ipaddr.process(entry.split('/', 1)[0] ?? '').range() === 'loopback';
  if (PROXY_SECRET !== undefined || !TRUSTED_PROXIES.some(isHere)) return;
  throw new StartError(
    'TRUSTED_PROXIES names an address of this machine, which tools have, too. Set PROXY_SECRET to a secret of at least 32 characters, and have the proxy send it as the header X-Proxy-Secret.',
  );
}

/** The other addresses stand beside the first one. */
function requireDatabase(env: z.infer<typeof Env>): void {
  const other = (['DATABASE_SESSION_URL', 'DATABASE_READ_URL'] as const).find((name) => env[name]);
  if (env.DATABASE_URL === undefined && other) {
    throw new StartError(`${other} is set without DATABASE_URL. Set both, or none.`);
  }
}
