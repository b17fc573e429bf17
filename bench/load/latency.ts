import { Agent, request } from 'node:http';
import { childOptions, ready } from '../support/childSide.ts';

export interface LatencyTarget {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const { url, headers, body } = childOptions<LatencyTarget>();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function post(): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}.`));
      response.resume().on('end', resolve).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}

/** One call after the other on one connection; answers with the milliseconds that each took. */
async function run({ calls }: { calls: number }): Promise<number[]> {
  const times: number[] = [];
  for (let call = 0; call < calls; call += 1) {
    const began = performance.now();
    await post();
    times.push(performance.now() - began);
  }
  return times;
}

ready('ready', run);
