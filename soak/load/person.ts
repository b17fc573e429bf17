import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type CallOptions, callOnce, callUntilFinal, mayRepeat } from '../setup/calls.ts';
import { pick, type Random } from '../setup/random.ts';
import type { PersonSetup } from '../setup/stage.ts';
import type { Journal } from './journal.ts';
import type { Latencies } from './latencies.ts';
import { type Listener, SocketIoListener, TrpcListener } from './listener.ts';

/** What all persons of a worker share. */
export interface Crowd {
  urls: readonly string[];
  journal: Journal;
  latencies: Latencies;
  /** How long a lost answer is asked for again. */
  patienceMs: number;
  withTools: boolean;
  /** The number of the last event of each channel before the clients came. */
  heads: Record<string, number>;
}

/** A message that a person has seen on a page. */
export interface Seen {
  id: string;
  isOwn: boolean;
}

/** How many messages of a channel a person remembers. */
const SEEN = 50;

/** A person with a page open: signed in, with an event connection. */
export class Person {
  readonly setup: PersonSetup;
  readonly crowd: Crowd;
  readonly random: Random;
  /** The processes, the own one first. */
  readonly urls: readonly string[];
  readonly #door: 'trpc' | 'socketio';
  readonly #seen = new Map<string, Seen[]>();
  listener: Listener | undefined;
  #token = '';

  constructor(setup: PersonSetup, crowd: Crowd, random: Random, index: number) {
    this.setup = setup;
    this.crowd = crowd;
    this.random = random;
    // Half of the persons use each door, and half of those each process.
    this.#door = index % 2 === 0 ? 'trpc' : 'socketio';
    const own = (index >> 1) % crowd.urls.length;
    this.urls = [...crowd.urls.slice(own), ...crowd.urls.slice(0, own)];
  }

  get token(): string {
    return this.#token;
  }

  /** One call at the own process; its answer is counted. */
  async call(action: string, request: string, options: CallOptions = {}): Promise<Answer> {
    const [url = ''] = this.urls;
    const answer = await callOnce(url, request, { token: this.#token, ...options });
    this.note(action, answer);
    return answer;
  }

  /** A write: repeated at the processes in turn until its answer is final. */
  async write(action: string, request: string, options: CallOptions = {}): Promise<Answer> {
    const { patienceMs } = this.crowd;
    const all = { token: this.#token, ...options };
    const answer = await callUntilFinal(this.urls, request, all, patienceMs);
    this.note(action, answer);
    return answer;
  }

  note(action: string, { status, body }: Answer): void {
    const { answers } = this.crowd.journal;
    const key = `${action} ${status}`;
    answers[key] = (answers[key] ?? 0) + 1;
    // 403 and 404 are right for guests, whose rights come and go.
    if (status === 500 || (status >= 400 && !mayRepeat({ status }) && status !== 403 && status !== 404))
      this.oddity(`${action} was answered ${status}: ${JSON.stringify(body).slice(0, 200)}`);
  }

  oddity(text: string): void {
    this.crowd.journal.oddities.push(`${new Date().toISOString()} ${this.setup.email}: ${text}`);
  }

  async signIn(): Promise<void> {
    const { email, password } = this.setup;
    const answer = await this.write('sign in', 'POST /auths/signin', {
      token: '',
      body: { email, password },
    });
    if (answer.status === 200) this.#token = answer.body.token;
    else if (answer.status !== 0) this.oddity(`the sign-in was refused with ${answer.status}`);
  }

  /** Signs in, opens the page and begins to listen. */
  async enter(): Promise<void> {
    await this.signIn();
    const cursor = await callUntilFinal(this.urls, 'GET /channels/events/cursor', { token: this.#token });
    const { setup, crowd } = this;
    const own = [...setup.channels, ...setup.guestOf];
    const options = {
      url: this.urls[0] ?? '',
      personId: setup.id,
      token: this.#token,
      steady: new Set(setup.channels),
      cursor: cursor.body.cursor,
      positions: Object.fromEntries(own.map((id) => [id, crowd.heads[id] ?? 0])),
    };
    this.listener = this.#door === 'trpc' ? new TrpcListener(options) : new SocketIoListener(options);
    crowd.journal.heard.push(this.listener.heard);
    this.listener.connect();
    await this.openPage();
  }

  /** Signs out and in again; the connection ends with the session, and continues at its position. */
  async signOutAndIn(): Promise<void> {
    if (!this.listener) return;
    this.listener.isLeaving = true;
    await this.write('sign out', 'POST /auths/signout', { body: {} });
    await this.signIn();
    this.listener.renew(this.#token);
    this.listener.isLeaving = false;
  }

  /** The reads of the page when it is opened; its time ends with the last answer. */
  async openPage(): Promise<void> {
    const began = performance.now();
    const channel = pick(this.setup.channels, this.random);
    const answers = await Promise.all([
      this.call('who am I', 'GET /auths'),
      this.call('configuration', 'GET /config'),
      this.call('list channels', 'GET /channels'),
      this.call('count unread', 'GET /channels/unread'),
      this.#read(channel, '?limit=50'),
    ]);
    const { status } = answers.find((answer) => answer.status !== 200) ?? { status: 200 };
    this.crowd.latencies.note('page', performance.now() - began, status);
  }

  /** Opens a channel: its newest page, then the mark that it is read. */
  async openChannel(channelId = this.anyChannel()): Promise<void> {
    const answer = await this.#read(channelId, '?limit=50');
    this.crowd.latencies.note('page', answer.ms, answer.status);
    if (answer.status === 200) await this.call('mark read', `POST /channels/${channelId}/read`, { body: {} });
  }

  async scroll(): Promise<void> {
    const channelId = this.anyChannel();
    const oldest = this.#seen.get(channelId)?.at(-1);
    if (!oldest) return this.openChannel(channelId);
    const answer = await this.#read(channelId, `?limit=50&before=${oldest.id}`);
    this.crowd.latencies.note('page', answer.ms, answer.status);
  }

  async #read(channelId: string, query: string): Promise<Answer> {
    const answer = await this.call('list messages', `GET /channels/${channelId}/messages${query}`);
    if (answer.status === 200 && answer.body.length > 0) {
      const messages = answer.body as { id: string; user_id: string; meta: { model_id?: string } }[];
      const seen = messages.map(({ id, user_id, meta }) => ({
        id,
        isOwn: user_id === this.setup.id && !meta.model_id,
      }));
      this.#seen.set(channelId, seen.slice(0, SEEN));
    }
    return answer;
  }

  /** Any channel of the person, those included that may not be readable at this moment. */
  anyChannel(): string {
    return pick([...this.setup.channels, ...this.setup.guestOf], this.random);
  }

  /** A message of a channel that the person has seen. */
  anySeen(isWanted: (seen: Seen) => boolean = () => true): { channelId: string; id: string } | undefined {
    const all = [...this.#seen].flatMap(([channelId, seen]) =>
      seen.filter(isWanted).map(({ id }) => ({ channelId, id })),
    );
    return all.length > 0 ? pick(all, this.random) : undefined;
  }

  /** Acts until the signal, with a pause before each action. */
  async live(
    act: (person: Person) => Promise<void>,
    pauseMs: () => number,
    signal: AbortSignal,
  ): Promise<void> {
    while (!signal.aborted) {
      await delay(pauseMs(), undefined, { signal }).catch(() => {});
      if (!signal.aborted) await act(this);
    }
  }
}
