import { OUTAGES, outageIn } from './outage.ts';

/** One failure. `detail` is the default sentence of the error. */
export interface ErrorSpec {
  status: number;
  detail: string;
}

const CORE_ERRORS = {
  validation: { status: 400, detail: 'The request does not have the expected shape.' },
  malformed_json: { status: 400, detail: 'The request body is not valid JSON.' },
  bad_request: { status: 400, detail: 'The request cannot be carried out as sent.' },
  name_taken: { status: 400, detail: 'That name is already in use. Choose another.' },
  id_taken: { status: 400, detail: 'That id is already in use. Choose another.' },
  arguments_invalid: { status: 400, detail: 'The arguments do not fit the specification of the function.' },
  address_refused: { status: 400, detail: 'That address may not be called: only public http(s) addresses.' },
  answer_too_large: { status: 400, detail: 'The other server sent more than is accepted.' },
  unauthenticated: { status: 401, detail: 'Sign in first: the credentials are missing, wrong or expired.' },
  account_pending: {
    status: 401,
    detail: 'This account waits for the approval of an administrator.',
  },
  forbidden: { status: 403, detail: 'You have no permission for this operation.' },
  origin_forbidden: {
    status: 403,
    detail: 'A change that carries only the cookie must come from the same origin.',
  },
  endpoint_forbidden: { status: 403, detail: 'API key not allowed to access this endpoint.' },
  session_required: { status: 403, detail: 'This needs a sign-in: an API key may not do it.' },
  not_found: { status: 404, detail: 'There is nothing under that address or id.' },
  method_not_allowed: { status: 405, detail: 'That address does not answer this method.' },
  too_large: { status: 413, detail: 'The request body is too large.' },
  media_type: { status: 415, detail: 'Send JSON, with the header Content-Type: application/json.' },
  range_unsatisfiable: {
    status: 416,
    detail: 'The file does not have the range of bytes that was asked for.',
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
  tool_timeout: { status: 504, detail: 'The tool took too long and was stopped.' },
} as const satisfies Record<string, ErrorSpec>;

/** The codes of nouns: each adds its own by augmenting this interface (`declareErrors`). */
// biome-ignore lint/suspicious/noEmptyInterface: filled by augmentation
export interface NounErrors {}

export type ErrorCode = keyof typeof CORE_ERRORS | keyof NounErrors;

/**
 * Every failure that a caller may see, by its stable code. Code and status are part of the wire contract: new
 * ones may be added, existing ones never change.
 */
export const ERRORS = { ...CORE_ERRORS } as Record<ErrorCode, ErrorSpec>;

/** Adds the errors of a noun. @throws Error for a code that exists */
export function declareErrors<const Errors extends Record<string, ErrorSpec>>(errors: Errors): Errors {
  for (const code of Object.keys(errors)) {
    if (code in ERRORS) throw new Error(`The error code ${code} is declared twice.`);
  }
  Object.assign(ERRORS, errors);
  return errors;
}

/** One problem of an input, in words: `path` is dotted, `message` says what was expected. */
export interface Issue {
  path: string;
  message: string;
}

export interface AppErrorOptions {
  detail?: string;
  issues?: Issue[];
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  cause?: unknown;
}

/**
 * The only error that services throw on purpose. Doors convert it to their own form. Every other error is
 * unexpected: it is logged, and reaches the caller as `internal` without its message.
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

/** The same for one member. @param path dotted; empty for the whole input */
export const invalid = (path: string, message: string): AppError => invalidMembers([{ path, message }]);

export const noSuchUser = (cause?: unknown): AppError =>
  new AppError('not_found', { detail: 'There is no such user.', cause });

/**
 * The intended failure within an error, at any depth: the ORM and tRPC wrap errors in their own. An
 * `AppError` that is not the answer of a service is wrapped on purpose. An outage is `unavailable`, or
 * `storage_full` when a disk is full.
 */
export function appErrorIn(error: unknown): AppError | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof AppError) return at;
  const outage = outageIn(error);
  if (!outage) return undefined;
  const options = { retryAfterSeconds: OUTAGE_RETRY_SECONDS, cause: error };
  if (outage === 'full') return new AppError('storage_full', options);
  return new AppError('unavailable', { ...options, detail: `${OUTAGES[outage]} Try again in a moment.` });
}

/** When a caller should retry after an outage. */
const OUTAGE_RETRY_SECONDS = 2;

/** The body of a failure at every door. */
export interface ErrorBody {
  detail: string;
  code: ErrorCode;
  issues?: Issue[];
  request_id?: string;
}
