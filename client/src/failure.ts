import { TRPCClientError } from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import type { FailureData } from './errordata.ts';
import type { ParleyError } from './errors.ts';

type Description = Pick<ParleyError, 'status' | 'code'> & Partial<Pick<ParleyError, 'issues' | 'requestId'>>;

/** tRPC passes its own errors on, and wraps all others. */
class CallError extends TRPCClientError<AnyTRPCRouter> implements ParleyError {
  override readonly name = 'ParleyError';
  readonly status: number;
  readonly code: ParleyError['code'];
  readonly detail: string;
  readonly issues: ParleyError['issues'];
  readonly requestId: string | null;

  constructor(detail: string, { status, code, issues = [], requestId = null }: Description, cause?: Error) {
    super(detail, cause && { cause });
    // The constructor of tRPC sets the prototype to its own class.
    Object.setPrototypeOf(this, CallError.prototype);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.issues = issues;
    this.requestId = requestId;
  }
}

/** The client was closed before the answer arrived. */
export const closedError = () =>
  new CallError('The client is closed. Make a new one.', { status: 0, code: 'closed' });

/** The token function failed. */
export function tokenError(cause: unknown) {
  const source = asError(cause);
  return new CallError(
    `There is no token: ${source.message}`,
    { status: 0, code: 'token_unavailable' },
    source,
  );
}

/** Converts any failure of a link to an error of this client. */
export function toCallError(error: unknown): CallError {
  if (error instanceof CallError) return error;
  const source = asError(error);
  const data: FailureData | undefined = source instanceof TRPCClientError ? source.data : undefined;
  if (data) {
    const { httpStatus: status, error_code: code, issues = [], request_id: requestId = null } = data;
    return new CallError(source.message, { status, code, issues, requestId }, source);
  }
  const { cause } = source;
  if ((cause instanceof Error && cause.name === 'AbortError') || source.message === 'Aborted') {
    return new CallError('The call was aborted.', { status: 0, code: 'aborted' }, source);
  }
  const detail = `No answer from the service: ${source.message}`;
  return new CallError(detail, { status: 0, code: 'unreachable' }, source);
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)));
