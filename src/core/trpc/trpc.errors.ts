import { TRPCError } from '@trpc/server';
import { type AppError, appErrorIn } from '../errors.ts';

const TRPC_CODES: Record<number, TRPCError['code']> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
};

/** A service's error as a tRPC error, with the same status at every door and the cause kept. */
export function toTrpcError(error: AppError): TRPCError {
  return new TRPCError({
    code: TRPC_CODES[error.status] ?? 'INTERNAL_SERVER_ERROR',
    message: error.message,
    cause: error,
  });
}

/** The error to throw to tRPC in place of a caught value. */
export function translated(error: unknown): unknown {
  const meant = appErrorIn(error);
  return meant ? toTrpcError(meant) : error;
}
