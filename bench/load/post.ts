import { type Agent, request } from 'node:http';

export interface Call {
  url: string;
  headers: Record<string, string>;
  /** Without a body the request is a `GET`. */
  body?: string;
}

export interface Post extends Call {
  body: string;
}

/** Makes one call; resolves when its answer has been read. @throws Error unless the answer is 200 */
export function post({ url, headers, body }: Call, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body === undefined ? 'GET' : 'POST', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}.`));
      response.resume().on('end', resolve).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
