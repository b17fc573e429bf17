import { Agent } from 'node:http';
import { childOptions, ready } from '../support/childSide.ts';
import { type Call, post } from './post.ts';

const call = childOptions<Call>();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Makes one call after the other on one connection; returns the milliseconds of each. */
async function run({ calls }: { calls: number }): Promise<number[]> {
  const times: number[] = [];
  for (let made = 0; made < calls; made += 1) {
    const began = performance.now();
    await post(call, agent);
    times.push(performance.now() - began);
  }
  return times;
}

ready('ready', run);
