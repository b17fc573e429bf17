import { createHash, randomUUID } from 'node:crypto';
import { pick, type Random } from '../setup/random.ts';
import { pickWord, sentence, TOOL } from '../setup/stage.ts';
import type { PostEntry } from './journal.ts';
import type { Person } from './person.ts';

interface Action {
  /** Relative to a post. */
  frequency: number;
  run(person: Person): Promise<unknown>;
}

/** The share of posts that are replies: `PercentReplies` of Mattermost's load test. */
const REPLIES = 0.85;
const EMOJIS = ['👍', '🎉', '👀', '❤️'];

/**
 * What people do. The frequencies are those of Mattermost's load test (mattermost-load-test-ng, `simulcontroller/controller.go`:
 * SwitchChannel with OpenDirectOrGroupChannel, ScrollChannel, UnreadCheck, CreatePost, AddReaction, EditPost, SearchPosts with the
 * other searches, ViewThread, ViewGlobalThreads, UpdateThreadRead, ReconnectWebSocket, FullReload). Those of `OURS` have no
 * counterpart there, or one so rare that a short run would not have it.
 */
const THEIRS: Action[] = [
  { frequency: 7.5062, run: (person) => person.openChannel() },
  { frequency: 1.9873, run: (person) => person.scroll() },
  { frequency: 1, run: (person) => person.call('count unread', 'GET /channels/unread') },
  { frequency: 1, run: post },
  { frequency: 0.1306, run: react },
  { frequency: 0.04, run: edit },
  { frequency: 0.0892, run: search },
  { frequency: 0.2841, run: openThread },
  { frequency: 0.6023, run: (person) => person.call('list threads', 'GET /channels/threads') },
  { frequency: 0.3236, run: markRead },
  { frequency: 0.144, run: async (person) => person.listener?.tear() },
  { frequency: 0.0008, run: (person) => person.openPage() },
];
const OURS: Action[] = [
  { frequency: 0.01, run: (person) => person.signOutAndIn() },
  { frequency: 0.05, run: upload },
  { frequency: 0.05, run: callModel },
];
const TOOLS: Action[] = [{ frequency: 0.05, run: callTool }];
/** For the count of kills: writes only. */
const WRITES: Action[] = [
  { frequency: 1, run: post },
  { frequency: 0.2, run: react },
  { frequency: 0.1, run: (person) => person.openChannel() },
];

/** Mattermost's `MinIdleTimeMs` and `AvgIdleTimeMs`: a person acts every twenty seconds on average. */
const IDLE_MS = { least: 1_000, average: 20_000 };

/** The pause before an action. @param pace a factor: below 1 people are faster */
export const idleMs = (random: Random, pace: number): number =>
  pace * (IDLE_MS.least + random() * 2 * (IDLE_MS.average - IDLE_MS.least));

/** Makes a function that performs one action, drawn by the frequencies. */
export function drawActions(mix: 'usual' | 'writes', withTools: boolean): (person: Person) => Promise<void> {
  const actions = mix === 'writes' ? WRITES : [...THEIRS, ...OURS, ...(withTools ? TOOLS : [])];
  const sum = actions.reduce((total, { frequency }) => total + frequency, 0);
  return async (person) => {
    let at = person.random() * sum;
    const drawn = actions.find(({ frequency }) => {
      at -= frequency;
      return at <= 0;
    });
    await drawn?.run(person);
  };
}

async function post(person: Person): Promise<void> {
  const root = person.random() < REPLIES ? person.anySeen() : undefined;
  await sendPost(person, root?.channelId ?? person.anyChannel(), sentence(person.random), root?.id);
}

async function callModel(person: Person): Promise<void> {
  await sendPost(person, pick(person.setup.channels, person.random), `@small ${sentence(person.random)}`);
}

/** Types and posts; repeats the post with the same `temp_id` until its answer is final. */
async function sendPost(person: Person, channelId: string, text: string, parentId?: string): Promise<void> {
  const at = `/channels/${channelId}`;
  await person.call('type', `POST ${at}/typing`, { body: { typing: true } });
  const tempId = randomUUID();
  const entry: PostEntry = {
    ...{ channelId, personId: person.setup.id, tempId, content: `${tempId} ${text}`, beganMs: Date.now() },
    ...{ ackMs: null, attempts: 0, id: null, refused: null },
  };
  person.crowd.journal.posts.push(entry);
  const body = { content: entry.content, temp_id: tempId, ...(parentId && { parent_id: parentId }) };
  const answer = await person.write('post', `POST ${at}/messages/post`, { body });
  person.crowd.latencies.note('post', answer.ms, answer.status);
  entry.attempts = answer.attempts;
  if (answer.status === 200) {
    entry.id = answer.body.id;
    entry.ackMs = Date.now();
  } else if (answer.status > 0 && answer.status < 500) entry.refused = answer.status;
}

async function react(person: Person): Promise<void> {
  const seen = person.anySeen();
  if (!seen) return;
  const { channelId, id: messageId } = seen;
  const name = pick(EMOJIS, person.random);
  const request = `POST /channels/${channelId}/messages/${messageId}/reactions/add`;
  const { status } = await person.write('react', request, { body: { name } });
  const personId = person.setup.id;
  person.crowd.journal.reactions.push({ channelId, messageId, personId, name, isAcked: status === 200 });
}

/** Edits a message once, since a lost earlier edit may come late. */
async function edit(person: Person): Promise<void> {
  const { edits, posts } = person.crowd.journal;
  const own = posts.filter(({ id, personId }) => id !== null && personId === person.setup.id);
  const fresh = own.filter(({ id }) => edits.every(({ messageId }) => messageId !== id));
  if (fresh.length === 0) return;
  const { channelId, id, tempId } = pick(fresh, person.random);
  const content = `${tempId} edited: ${sentence(person.random)}`;
  const entry = { channelId, messageId: id ?? '', content, isAcked: false };
  edits.push(entry);
  const request = `POST /channels/${channelId}/messages/${id}/update`;
  entry.isAcked = (await person.write('edit', request, { body: { content } })).status === 200;
}

function search(person: Person) {
  return person.call('search', `GET /channels/messages/search?q=${pickWord(person.random)}`);
}

async function openThread(person: Person): Promise<void> {
  const seen = person.anySeen();
  if (seen)
    await person.call('list thread', `GET /channels/${seen.channelId}/messages/${seen.id}/thread?limit=50`);
}

function markRead(person: Person) {
  return person.call('mark read', `POST /channels/${person.anyChannel()}/read`, { body: {} });
}

async function upload(person: Person): Promise<void> {
  const text = `${randomUUID()} ${sentence(person.random)} `.repeat(1 + Math.floor(person.random() * 100));
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/plain' }), 'notes.txt');
  const personId = person.setup.id;
  const { status, body } = await person.write('upload', 'POST /files', { form });
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (status === 200) person.crowd.journal.uploads.push({ id: body.id, personId, sha256 });
}

async function callTool(person: Person): Promise<void> {
  const [a, b] = [1, 2].map(() => Math.floor(person.random() * 1e6)) as [number, number];
  const { status, body } = await person.call('call tool', `POST /tools/id/${TOOL}/call`, {
    body: { function: 'add', arguments: { a, b } },
  });
  if (status === 200 && JSON.stringify(body).includes(`${a + b}`) === false)
    person.oddity(`the tool answered ${JSON.stringify(body)} for ${a} + ${b}`);
}
