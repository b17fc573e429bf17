import { Agent, request } from 'node:http';
import { ready } from '../support/childSide.ts';

export interface StreamsTask {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** How many streams are open at once. */
  streams: number;
}

export interface Streamed {
  /** Tokens of all streams. */
  operations: number;
  seconds: number;
  /** Streams that did not come to their end. */
  dropped: number;
  /** When the last stream got its first token, in seconds. */
  lastBegan: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const TOKEN = '"content":" token"';

/** Reads one stream. @returns its tokens, and whether it came to its end */
const read = ({ url, headers, body }: StreamsTask) =>
  new Promise<{ tokens: number; isWhole: boolean; beganAt: number }>((resolve) => {
    let tokens = 0;
    let rest = '';
    let beganAt = Number.NaN;
    const end = () => resolve({ tokens, beganAt, isWhole: rest.endsWith('data: [DONE]\n\n') });
    const sent = request(url, { method: 'POST', headers, agent }, (response) => {
      response.setEncoding('latin1');
      response.on('data', (piece: string) => {
        const text = rest + piece;
        let at = text.indexOf(TOKEN);
        if (at !== -1 && tokens === 0) beganAt = performance.now();
        let from = 0;
        while (at !== -1) {
          tokens += 1;
          from = at + TOKEN.length;
          at = text.indexOf(TOKEN, from);
        }
        rest = text.slice(Math.max(from, text.length - 64));
      });
      response.on('close', end).on('error', end);
    });
    sent.on('error', end).end(body);
  });

async function run(task: StreamsTask): Promise<Streamed> {
  const began = performance.now();
  const all = await Promise.all(Array.from({ length: task.streams }, () => read(task)));
  return {
    operations: all.reduce((sum, { tokens }) => sum + tokens, 0),
    seconds: (performance.now() - began) / 1000,
    lastBegan: (Math.max(...all.map(({ beganAt }) => beganAt)) - began) / 1000,
    dropped: all.filter(({ isWhole }) => !isWhole).length,
  };
}

ready<StreamsTask>('ready', run);
