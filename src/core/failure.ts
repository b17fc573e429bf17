import { ZodError } from 'zod';
import {
  AppError,
  appErrorIn,
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  type Issue,
  sentence,
} from './errors.ts';
import './schema/words.ts';

/**
 * A failure as every door answers it. `report` says whether the failure is a fault of the server and is
 * logged.
 */
export interface Failure {
  status: number;
  body: ErrorBody;
  retryAfterSeconds?: number;
  report: boolean;
}

/**
 * Converts any thrown value to the wire form. Unexpected errors lose their message here: it goes to the log,
 * under the request id that the caller gets.
 */
export function describeFailure(error: unknown, requestId: string): Failure {
  const known = findKnown(error);
  if (known instanceof AppError) return fromAppError(known, requestId);
  if (known) return fromZodError(known);
  const transport = fromTransport(error);
  if (transport) return transport;
  return internal(requestId);
}

function findKnown(error: unknown): AppError | ZodError | undefined {
  const meant = appErrorIn(error);
  if (meant) return meant;
  // A ZodError is the caller's fault only when tRPC says so: an invalid output is a fault of the server.
  const isInput = isTrpcError(error) && error.code === 'BAD_REQUEST';
  return isInput && error.cause instanceof ZodError ? error.cause : undefined;
}

interface TrpcErrorLike extends Error {
  code: string;
}

const isTrpcError = (error: unknown): error is TrpcErrorLike =>
  error instanceof Error && error.name === 'TRPCError' && 'code' in error;

function fromAppError(error: AppError, requestId: string): Failure {
  const report = error.status >= 500 && error.code === 'internal';
  return {
    status: error.status,
    body: {
      detail: error.message,
      code: error.code,
      ...(error.issues && { issues: error.issues }),
      ...(error.status === 500 && { request_id: requestId }),
    },
    ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
    report,
  };
}

function fromZodError(error: ZodError): Failure {
  const issues = describeIssues(error);
  const [first] = issues;
  const detail = first ? sentence(first) : ERRORS.validation.detail;
  return { status: 400, body: { detail, code: 'validation', issues }, report: false };
}

/** At most 100 issues are reported at a time. */
const MAX_ISSUES = 100;

/** Zod's issues in plain words: the dotted path and the expected value; the first hundred. */
export function describeIssues(error: ZodError): Issue[] {
  return error.issues
    .slice(0, MAX_ISSUES)
    .map((issue) => ({ path: issue.path.map(String).join('.'), message: issue.message }));
}

/** Failures that tRPC and Fastify report before a procedure runs, by their codes. */
const TRANSPORT_CODES: Record<string, ErrorCode> = {
  PARSE_ERROR: 'malformed_json',
  NOT_FOUND: 'not_found',
  METHOD_NOT_SUPPORTED: 'method_not_allowed',
  PAYLOAD_TOO_LARGE: 'too_large',
  UNSUPPORTED_MEDIA_TYPE: 'media_type',
  BAD_REQUEST: 'bad_request',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad_request',
  FST_ERR_CTP_BODY_TOO_LARGE: 'too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media_type',
  FST_ERR_BAD_URL: 'bad_request',
  // Node's parser accepts methods that routes cannot have: PRI of the preface of HTTP/2, and those of RTSP.
  FST_ERR_NOT_FOUND: 'not_found',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
};

function fromTransport(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  // tRPC reads a body only when a procedure asks for its input, and reports a body that it cannot parse as a
  // bad request.
  const malformed = error.code === 'BAD_REQUEST' && error.cause instanceof SyntaxError;
  const code = malformed ? 'malformed_json' : TRANSPORT_CODES[error.code];
  if (!code) return undefined;
  const { status, detail } = ERRORS[code];
  return { status, body: { detail, code }, report: false };
}

function internal(requestId: string): Failure {
  const { status, detail } = ERRORS.internal;
  return { status, body: { detail, code: 'internal', request_id: requestId }, report: true };
}
