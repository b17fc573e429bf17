import * as client from 'openid-client';
import { AppError } from '../../core/errors.ts';

/**
 * Maps an error at a provider to an error of this service. The provider's text is not used: any page can link
 * to the callback with its own text.
 */
export function errorOfProvider(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof client.AuthorizationResponseError) {
    const reason = /^[a-z_]{1,64}$/.test(error.error) ? ` (${error.error})` : '';
    const detail = `The provider did not let you sign in${reason}. Begin again.`;
    return new AppError('oauth_failed', { detail, cause: error });
  }
  if (error instanceof client.ClientError && error.code === 'OAUTH_TIMEOUT') {
    return new AppError('upstream_timeout', {
      detail: 'The provider took too long to answer.',
      cause: error,
    });
  }
  if (isUnreachable(error)) {
    return new AppError('upstream_failed', {
      detail: 'The provider does not answer. Try again in a moment.',
      cause: error,
    });
  }
  return new AppError('oauth_failed', { cause: error });
}

/** True if the connection failed, or the answer did not come from a provider. */
function isUnreachable(error: unknown): boolean {
  const codes = ['OAUTH_HTTP_REQUEST_FAILED', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof TypeError && cause.message === 'fetch failed') return true;
    if (codes.includes((cause as Error & { code?: string }).code ?? '')) return true;
  }
  return false;
}
