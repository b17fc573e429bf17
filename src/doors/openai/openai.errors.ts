import type { Failure } from '../../core/failure.ts';

/** OpenAI's names for kinds of failures, by status. */
const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** A failure in OpenAI's shape. `code` is ours: it is stable, and the same at every door. */
export function toOpenAiError({ status, body }: Pick<Failure, 'status' | 'body'>) {
  const { detail, code, issues, request_id } = body;
  return {
    error: {
      message: detail,
      type: TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
      param: code === 'model_not_found' ? 'model' : (issues?.[0]?.path ?? null),
      code,
      ...(request_id !== undefined && { request_id }),
    },
  };
}
