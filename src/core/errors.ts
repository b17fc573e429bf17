import { OUTAGES, outageIn } from './outage.ts';

/**
 * Every failure that a caller may see, by its stable code. The code and the status are part of the wire
 * contract: add freely, change never. `detail` is the sentence used when the thrower has no better one.
 */
export const ERRORS = {
  validation: { status: 400, detail: 'The request does not have the expected shape.' },
  malformed_json: { status: 400, detail: 'The request body is not valid JSON.' },
  bad_request: { status: 400, detail: 'The request cannot be carried out as sent.' },
  email_invalid: {
    status: 400,
    detail: 'That e-mail address is not valid. Use one of the form name@example.com.',
  },
  email_taken: { status: 400, detail: 'That e-mail address already has an account. Sign in instead.' },
  credentials_wrong: { status: 400, detail: 'The e-mail address or the password is wrong.' },
  oauth_failed: {
    status: 400,
    detail: 'The sign-in through the provider did not succeed. Begin again.',
  },
  password_wrong: { status: 400, detail: 'The current password is wrong.' },
  password_weak: { status: 400, detail: 'That password is too easy to guess. Choose another.' },
  id_invalid: { status: 400, detail: 'An id may hold only ASCII letters, digits and underscores.' },
  name_taken: { status: 400, detail: 'That name is already in use. Choose another.' },
  id_taken: { status: 400, detail: 'That id is already in use. Choose another.' },
  tool_invalid: { status: 400, detail: 'The tool could not be loaded.' },
  arguments_invalid: { status: 400, detail: 'The arguments do not fit the specification of the function.' },
  address_refused: { status: 400, detail: 'That address may not be called: only public http(s) addresses.' },
  answer_too_large: { status: 400, detail: 'The other server sent more than is accepted.' },
  valves_invalid: { status: 400, detail: 'The tool does not accept these valves.' },
  config_newer: { status: 400, detail: 'The configuration was exported by a newer version.' },
  unauthenticated: { status: 401, detail: 'Sign in first: the credentials are missing, wrong or expired.' },
  account_pending: {
    status: 401,
    detail: 'This account waits for the approval of an administrator.',
  },
  tool_forbidden: { status: 401, detail: 'You have no permission for this tool operation.' },
  forbidden: { status: 403, detail: 'You have no permission for this operation.' },
  origin_forbidden: {
    status: 403,
    detail: 'A change that carries only the cookie must come from the same origin.',
  },
  api_key_forbidden: { status: 403, detail: 'Use of API key is not enabled in the environment.' },
  endpoint_forbidden: { status: 403, detail: 'API key not allowed to access this endpoint.' },
  session_required: { status: 403, detail: 'This needs a sign-in: an API key may not do it.' },
  signup_disabled: { status: 403, detail: 'Sign-up is switched off. Ask an administrator for an account.' },
  signin_disabled: { status: 403, detail: 'Sign-in by password is switched off.' },
  channels_disabled: { status: 403, detail: 'Channels are switched off.' },
  primary_admin: {
    status: 403,
    detail: 'The first administrator can be neither demoted nor deleted by others.',
  },
  not_found: { status: 404, detail: 'There is nothing under that address or id.' },
  method_not_allowed: { status: 405, detail: 'That address does not answer this method.' },
  config_locked: {
    status: 409,
    detail: 'An environment variable of the server pins that setting.',
  },
  tool_not_ready: { status: 409, detail: 'The packages that the tool asks for are not installed.' },
  too_large: { status: 413, detail: 'The request body is too large.' },
  media_type: { status: 415, detail: 'Send JSON, with the header Content-Type: application/json.' },
  range_unsatisfiable: {
    status: 416,
    detail: 'The file does not have the range of bytes that was asked for.',
  },
  search_too_broad: {
    status: 422,
    detail: 'Too many messages hold these words. Search in one channel, of one author, or in less time.',
  },
  tool_raised: { status: 422, detail: 'The tool raised an error.' },
  rate_limited: { status: 429, detail: 'Too many attempts. Wait before the next.' },
  internal: { status: 500, detail: 'Something went wrong on the server.' },
  upstream_failed: { status: 502, detail: 'The other server did not answer as expected.' },
  python_unavailable: { status: 503, detail: 'Python tools are not available on this server.' },
  unavailable: { status: 503, detail: 'The server is not ready. Try again in a moment.' },
  upstream_timeout: { status: 504, detail: 'The other server took too long to answer.' },
  tool_interrupted: {
    status: 503,
    detail: 'The process of the tool ended while it also did something for others.',
  },
  storage_full: {
    status: 507,
    detail:
      'The server has hardly any room left on its disk, so nothing more is stored. Reading and deleting go on.',
  },
  quota_exceeded: {
    status: 507,
    detail: 'That would take more room than you may have. Delete something first.',
  },
  tool_timeout: { status: 504, detail: 'The tool took too long and was stopped.' },
} as const satisfies Record<string, { status: number; detail: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One thing that is wrong with an input, in words: `path` is dotted, `message` says what was expected. */
export interface Issue {
  path: string;
  message: string;
}

export interface AppErrorOptions {
  detail?: string;
  issues?: Issue[];
  /** Seconds after which another try makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/**
 * The only error that services throw on purpose. Doors turn it into their own form; whatever else is thrown
 * is unexpected, is logged, and reaches the caller as `internal` without its message.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly issues: Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    super(options.detail ?? ERRORS[code].detail, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.status = ERRORS[code].status;
    this.issues = options.issues;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** An issue as a sentence. */
export const sentence = ({ path, message }: Issue): string => (path === '' ? message : `${path}: ${message}`);

/** A `validation` error that names its issues; the first one is the detail. */
export function invalidMembers(issues: Issue[]): AppError {
  const [first] = issues;
  return new AppError('validation', { ...(first && { detail: sentence(first) }), issues });
}

/** The same for one member. @param path dotted; empty for the input as a whole */
export const invalid = (path: string, message: string): AppError => invalidMembers([{ path, message }]);

export const noSuchUser = (cause?: unknown): AppError =>
  new AppError('not_found', { detail: 'There is no such user.', cause });

/**
 * The failure that somebody meant, however deep in what was made of it on the way: the ORM and tRPC throw errors of their own, and
 * what must not be taken for an answer of a service is thrown within another error on purpose. An outage is `unavailable`, and
 * `storage_full` when it is of room on a disk.
 */
export function appErrorIn(error: unknown): AppError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof AppError) return at;
  const outage = outageIn(error);
  if (!outage) return undefined;
  const options = { retryAfterSeconds: OUTAGE_RETRY_SECONDS, cause: error };
  if (outage === 'full') return new AppError('storage_full', options);
  return new AppError('unavailable', { ...options, detail: `${OUTAGES[outage]} Try again in a moment.` });
}

/** When a caller should come back after an outage. */
const OUTAGE_RETRY_SECONDS = 2;

/** The body that every door answers a failure with. */
export interface ErrorBody {
  detail: string;
  code: ErrorCode;
  issues?: Issue[];
  request_id?: string;
}
