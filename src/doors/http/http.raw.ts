import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '../../core/errors.ts';

/** A whole HTTP answer as text, for sockets without a response object. It closes the connection. */
export function rawAnswer(status: number, body: ErrorBody, requestId: string): string {
  const json = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(json)}`,
    'Connection: close',
    `X-Request-Id: ${requestId}`,
    'X-Process-Time: 0.000000',
    'X-Content-Type-Options: nosniff',
    '',
    json,
  ].join('\r\n');
}
