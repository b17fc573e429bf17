import { Agent } from 'node:http';
import { childOptions, ready } from '../support/childSide.ts';
import { openFrameSocket } from './frames.ts';
import { type Post, post } from './post.ts';

export interface SocketLoad {
  /** Of the event door, `ws://…`. */
  url: string;
  sockets: number;
  /** Whose sockets these are, in turn: one account may have so many. */
  people: {
    headers: Record<string, string>;
    /** What a socket sends once it is open. */
    hello: string[];
    /** Beginnings of frames, each with the frame to send back. */
    replies: Record<string, string>;
  }[];
  /** The beginning of the frame that says that a socket gets events from now on; null when opening is enough. */
  readyAt: string | null;
  /** The beginning of the frames that carry an event. */
  eventAt: string;
  /** The call that makes one event. */
  trigger: Post;
}

const load = childOptions<SocketLoad>();
const agent = new Agent({ keepAlive: true });
/** How many triggers are under way at once: enough that the server never waits for one. */
const TRIGGERS = 4;
const PATIENCE_MS = 60_000;

let delivered = 0;
let wanted = Number.POSITIVE_INFINITY;
let onAll = () => {};

const starts = (buffer: Buffer, at: number, text: string) =>
  buffer.toString('latin1', at, at + text.length) === text;

/** Opens one socket; resolves once it gets events. */
function open({ headers, hello, replies }: SocketLoad['people'][number]): Promise<void> {
  const { url, readyAt, eventAt } = load;
  return new Promise((resolve, reject) => {
    openFrameSocket({
      url,
      headers,
      onOpen(socket) {
        for (const text of hello) socket.send(text);
        if (readyAt === null) resolve();
      },
      onFrame(socket, buffer, at) {
        if (starts(buffer, at, eventAt)) {
          delivered += 1;
          if (delivered === wanted) onAll();
          return;
        }
        if (readyAt !== null && starts(buffer, at, readyAt)) resolve();
        for (const [beginning, reply] of Object.entries(replies)) {
          if (starts(buffer, at, beginning)) socket.send(reply);
        }
      },
      onEnd: () => reject(new Error(`A socket to ${url} was closed.`)),
    });
  });
}

/** Makes events; answers when every socket has had every one of them. */
async function run({ events }: { events: number }): Promise<{ operations: number; seconds: number }> {
  delivered = 0;
  wanted = events * load.sockets;
  const all = new Promise<void>((resolve) => {
    onAll = resolve;
  });
  const began = performance.now();
  let left = events;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await post(load.trigger, agent);
    }
  };
  await Promise.all(Array.from({ length: TRIGGERS }, work));
  const late = setTimeout(() => {
    throw new Error(`${load.url}: ${delivered} of ${wanted} deliveries arrived.`);
  }, PATIENCE_MS);
  await all;
  clearTimeout(late);
  return { operations: wanted, seconds: (performance.now() - began) / 1000 };
}

for (let opened = 0; opened < load.sockets; opened += 1) {
  const person = load.people[opened % load.people.length];
  if (person) await open(person);
}
ready('ready', run);
