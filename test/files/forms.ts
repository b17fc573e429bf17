import type { Answer, Person, TestServer } from '../support/server.ts';

/** The smallest possible picture, 1 × 1. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Posts a form to the upload address. */
export async function sendForm(
  server: TestServer,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string>,
  path = '/api/v1/files/',
): Promise<Answer> {
  const response = await fetch(server.url + path, { method: 'POST', headers, body });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

export const bearer = ({ token }: Person) => ({ authorization: `Bearer ${token}` });

/** Uploads bytes as a person. */
export function upload(
  server: TestServer,
  person: Person,
  bytes: Buffer | string,
  { filename = 'file.bin', metadata }: { filename?: string; metadata?: unknown } = {},
): Promise<Answer> {
  const form = new FormData();
  // The browser guesses this type, and an attacker may choose it.
  form.append(
    'file',
    new Blob([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)], { type: 'text/html' }),
    filename,
  );
  if (metadata !== undefined) form.append('metadata', JSON.stringify(metadata));
  return sendForm(server, form, bearer(person));
}

/** Gets the bytes of a file as a text of single bytes. */
export async function download(
  server: TestServer,
  id: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; bytes: Buffer; headers: Headers }> {
  const response = await fetch(`${server.url}/api/v1/files/${id}/content`, { method, headers });
  return {
    status: response.status,
    bytes: Buffer.from(await response.arrayBuffer()),
    headers: response.headers,
  };
}
