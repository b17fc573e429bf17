import type { Failure } from '../../core/failure.ts';

/** Anthropic's names for kinds of failures, by status. */
const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** A failure in Anthropic's shape, with our stable code beside it. */
export const toMessagesError = ({ status, body }: Pick<Failure, 'status' | 'body'>, requestId: string) => ({
  type: 'error',
  error: {
    type: TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'),
    message: body.detail,
    code: body.code,
  },
  request_id: requestId,
});
