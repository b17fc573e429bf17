import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { childOptions, ready } from '../support/childSide.ts';
import { quantile } from '../support/rounds.ts';
import { openFrameSocket } from './frames.ts';
import { type Post, post } from './post.ts';

export interface SocketLoad {
  /** The address of the event door, `ws://…`. */
  url: string;
  sockets: number;
  /** The accounts of the sockets, in turn, since one account may have only so many. */
  people: {
    headers: Record<string, string>;
    /** The frames that a socket sends when it is open. */
    hello: string[];
    /** Beginnings of frames, each with the frame to send back. */
    replies: Record<string, string>;
  }[];
  /** The beginning of the frame after which a socket gets events; null when opening is enough. */
  readyAt: string | null;
  /** The beginning of frames that carry an event. */
  eventAt: string;
  /** The call that makes one event; not set for sockets that only stay open. */
  trigger?: Post;
}

export interface SocketTask {
  events: number;
  /** The number of events in a second, however long each takes; by default as fast as possible. */
  perSecond?: number;
}

export interface SocketResult {
  /** The number of deliveries. */
  operations: number;
  seconds: number;
  /** From the time when a post is due to each of its deliveries; only with a pace. */
  latencyMs?: { p50: number; p99: number };
}

const load = childOptions<SocketLoad>();
const agent = new Agent({ keepAlive: true });
/** The number of concurrent triggers: enough that the server never waits for one. */
const TRIGGERS = 4;
const PATIENCE_MS = 60_000;

/** The times when the events of a paced run were due, by their id, and the duration of each delivery. */
const due = new Map<string, number>();
const latencies: number[] = [];
const ID_AT = Buffer.from('"temp_id":"');
const ID_LENGTH = 36;

/** The frame of a paced event contains its id. */
function noteLatency(buffer: Buffer, at: number): void {
  const start = buffer.indexOf(ID_AT, at) + ID_AT.length;
  const dueAt = due.get(buffer.toString('latin1', start, start + ID_LENGTH));
  if (dueAt !== undefined) latencies.push(performance.now() - dueAt);
}

let delivered = 0;
let wanted = Number.POSITIVE_INFINITY;
let onAll = () => {};

const starts = (buffer: Buffer, at: number, text: string) =>
  buffer.toString('latin1', at, at + text.length) === text;

/** Opens one socket; resolves when it gets events. */
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
          if (due.size > 0) noteLatency(buffer, at);
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

const trigger = (): Post => {
  if (!load.trigger) throw new Error('There is no trigger.');
  return load.trigger;
};

/** Makes events as fast as possible. */
async function makeEvents(events: number): Promise<void> {
  let left = events;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await post(trigger(), agent);
    }
  };
  await Promise.all(Array.from({ length: TRIGGERS }, work));
}

/**
 * Makes events at their times. A late one counts from the time when it was due, so a server that stalls does
 * not hide the wait.
 */
async function paceEvents(events: number, perSecond: number): Promise<void> {
  const body = JSON.parse(trigger().body) as object;
  const began = performance.now();
  const posts: Promise<void>[] = [];
  for (let made = 0; made < events; made += 1) {
    const at = began + (made / perSecond) * 1000;
    await delay(Math.max(0, at - performance.now()));
    const temp_id = randomUUID();
    due.set(temp_id, at);
    posts.push(post({ ...trigger(), body: JSON.stringify({ ...body, temp_id }) }, agent));
  }
  await Promise.all(posts);
}

/** Makes events; resolves when every socket has received each of them. */
async function run({ events, perSecond }: SocketTask): Promise<SocketResult> {
  delivered = 0;
  wanted = events * load.sockets;
  due.clear();
  latencies.length = 0;
  const all = new Promise<void>((resolve) => {
    onAll = resolve;
  });
  const began = performance.now();
  await (perSecond === undefined ? makeEvents(events) : paceEvents(events, perSecond));
  const late = setTimeout(() => {
    throw new Error(`${load.url}: ${delivered} of ${wanted} deliveries arrived.`);
  }, PATIENCE_MS);
  await all;
  clearTimeout(late);
  const seconds = (performance.now() - began) / 1000;
  if (perSecond === undefined) return { operations: wanted, seconds };
  const latencyMs = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
  return { operations: wanted, seconds, latencyMs };
}

for (let opened = 0; opened < load.sockets; opened += 1) {
  const person = load.people[opened % load.people.length];
  if (person) await open(person);
}
ready('ready', run);
