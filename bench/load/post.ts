import { type Agent, request } from 'node:http';

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** One `POST`; resolves when its answer has been read. @throws Error unless that is 200 */
export function post({ url, headers, body }: Post, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}.`));
      response.resume().on('end', resolve).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
