import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { contentsOfEvents, type Subscription, subscribe } from '../events/listen.ts';
import { PASSWORD } from '../support/server.ts';
import type { Balancer } from './balancer.ts';

/** A request that fails longer than that has failed. */
const PATIENCE_MS = 15_000;
const PAUSE_MS = 20;

export interface Figures {
  requests: number;
  /** Attempts that a client repeated: a lost connection, or 503. By reason. */
  repeated: Record<string, number>;
  /** Requests that failed in another way, or were given up. */
  failed: string[];
}

interface Request {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
  token?: string | undefined;
}

/** People who post, read and listen through a balancer, and repeat what a client may repeat. */
export class Load {
  readonly figures: Figures = { requests: 0, repeated: {}, failed: [] };
  readonly #balancer: Balancer;
  readonly #acknowledged: string[] = [];
  readonly #subscribers: Subscription[] = [];
  #people: string[] = [];
  #channel = '';
  #isOver = false;
  #running: Promise<unknown>[] = [];

  constructor(balancer: Balancer) {
    this.#balancer = balancer;
  }

  /** Makes the people and their channel, and begins. */
  async begin(people: number, subscribers: number): Promise<void> {
    for (let n = 0; n < people; n += 1) this.#people.push(await this.#signUp(n));
    const [token] = this.#people;
    const access_grants = [{ principal_type: 'user', principal_id: '*', permission: 'write' }];
    const body = { name: 'general', access_grants };
    const made = await this.#ask({ method: 'POST', path: '/channels/create', body, token });
    this.#channel = (made as { id: string }).id;
    for (let n = 0; n < subscribers; n += 1) {
      this.#subscribers.push(await subscribe(this.#balancer.url, this.#people[n % people]));
    }
    this.#running = this.#people.map((person, n) => this.#live(person, n));
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** What was lost: acknowledged posts that are not there once, and events that subscribers lack, have twice or in another order. */
  async findLosses(): Promise<string[]> {
    const stored = await this.#listAll();
    const counts = new Map<string, number>();
    for (const content of stored) counts.set(content, (counts.get(content) ?? 0) + 1);
    const posts = this.#acknowledged
      .filter((content) => counts.get(content) !== 1)
      .map((content) => `The post ${content} is there ${counts.get(content) ?? 0} times.`);
    const events: string[] = [];
    for (const [n, { items, failure }] of this.#subscribers.entries()) {
      const heard = () =>
        contentsOfEvents(items.flatMap(({ event }) => (event.data.type === 'message' ? [event] : [])));
      for (let wait = 0; wait < 100 && heard().length < stored.length; wait += 1) await delay(100);
      if (heard().join() !== stored.join()) events.push(`Subscriber ${n} heard other posts than are stored.`);
      const gap = items.findIndex(
        ({ event }, at) => at > 0 && event.event_id !== (items[at - 1]?.event.event_id ?? 0) + 1,
      );
      if (gap !== -1) events.push(`Subscriber ${n} heard no event, or another one, after its event ${gap}.`);
      if (failure) events.push(`Subscriber ${n} ended: ${failure}.`);
    }
    return [...posts, ...events];
  }

  get posts(): number {
    return this.#acknowledged.length;
  }

  close(): void {
    for (const subscriber of this.#subscribers) subscriber.close();
  }

  async #signUp(n: number): Promise<string> {
    const body = { email: `p${n}@example.com`, name: `P${n}`, password: PASSWORD };
    const { id, token } = (await this.#ask({ method: 'POST', path: '/auths/signup', body })) as Record<
      string,
      string
    >;
    if (n === 0) return token ?? '';
    const role = { method: 'POST', path: `/users/${id}/update`, body: { role: 'user' } } as const;
    await this.#ask({ ...role, token: this.#people[0] });
    const again = await this.#ask({ method: 'POST', path: '/auths/signin', body });
    return (again as { token: string }).token;
  }

  /** One person: posts, and reads what the page reads. */
  async #live(token: string, person: number): Promise<void> {
    const at = `/channels/${this.#channel}/messages`;
    const reads = [
      ...['/auths', '/channels', '/models', '/tools', `${at}?limit=50`, `${at}?limit=50&skip=1`],
      ...[`/channels/${this.#channel}/members`, '/channels/messages/search?q=post', '/users/user/settings'],
    ];
    for (let n = 0; !this.#isOver; n += 1) {
      const content = `post ${person}-${n}`;
      const body = { content, temp_id: randomUUID() };
      const posted = await this.#ask({ method: 'POST', path: `${at}/post`, body, token });
      if (posted) {
        this.#acknowledged.push(content);
        const { id } = posted as { id: string };
        await this.#ask({ method: 'POST', path: `${at}/${id}/reactions/add`, body: { name: 'tada' }, token });
        await this.#ask({ method: 'POST', path: `${at}/${id}/pin`, body: { is_pinned: n % 2 === 0 }, token });
      }
      for (const path of reads) await this.#ask({ method: 'GET', path, token });
      await delay(PAUSE_MS);
    }
  }

  async #listAll(): Promise<string[]> {
    const contents: string[] = [];
    for (let skip = 0; ; skip += 50) {
      const path = `/channels/${this.#channel}/messages?skip=${skip}&limit=50`;
      const page = (await this.#ask({ method: 'GET', path, token: this.#people[0] })) as {
        content: string;
      }[];
      contents.push(...page.map(({ content }) => content));
      if (page.length < 50) return contents.reverse();
    }
  }

  /** The body of the answer; undefined when the request failed. */
  async #ask(request: Request): Promise<unknown> {
    this.figures.requests += 1;
    for (const end = performance.now() + PATIENCE_MS; ; await delay(PAUSE_MS)) {
      const { status, body } = await send(await this.#balancer.next(), request);
      if (status === 200) return body;
      const reason = typeof status === 'string' ? status : `status ${status}`;
      const mayRepeat = typeof status === 'string' || status === 503;
      if (mayRepeat) this.figures.repeated[reason] = (this.figures.repeated[reason] ?? 0) + 1;
      if (mayRepeat && performance.now() < end) continue;
      this.figures.failed.push(`${request.method} ${request.path}: ${reason} ${JSON.stringify(body)}`);
      return undefined;
    }
  }
}

/** The status, or the code of the lost connection. */
async function send(
  url: string,
  { method, path, body, token }: Request,
): Promise<{ status: number | string; body: unknown }> {
  try {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { status: cause?.code ?? message, body: null };
  }
}
