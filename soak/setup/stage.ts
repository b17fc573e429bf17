import { grant } from '../../test/support/channels.ts';
import { connectProvider } from '../../test/support/provider.ts';
import type { TestServer } from '../../test/support/server.ts';
import { callUntilFinal, inParallel, insist } from './calls.ts';
import type { Installation } from './installation.ts';
import { pick, type Random, shuffled } from './random.ts';

/** What a client needs to act as a person. */
export interface PersonSetup {
  id: string;
  email: string;
  password: string;
  /** Channels whose readers stay. */
  channels: string[];
  /** Channels whose right the person gets and loses meanwhile. */
  guestOf: string[];
}

export interface ChannelSetup {
  id: string;
  /** Ids of people. */
  steady: string[];
  guests: string[];
}

/** People and channels of a new installation. */
export interface Stage {
  administrator: { id: string; token: string };
  people: PersonSetup[];
  channels: ChannelSetup[];
}

const PASSWORD = 'correct horse battery';
export const TOOL = 'soak_adder';
const TOOL_SOURCE = `
class Tools:
    def add(self, a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b
`;

/** How many channels a person follows, and how many people share a channel with them. */
const CHANNELS_OF_ONE = 8;
const PEOPLE_OF_CHANNEL = 40;
/** One channel in so many has guests. */
const GUESTED = 3;
const GUESTS = 4;
const WIDTH = 16;

export interface StageOptions {
  people: number;
  random: Random;
  withTools: boolean;
}

export async function makeStage(
  { urls, provider }: Installation,
  { people: count, random, withTools }: StageOptions,
): Promise<Stage> {
  const root = { email: 'root@example.com', name: 'Root', password: PASSWORD };
  const { id, token } = await insist(urls, 'POST /auths/signup', { body: root });
  await connectModel(urls, token, provider);
  if (withTools) {
    const tool = { id: TOOL, name: 'Adder', content: TOOL_SOURCE, meta: { description: '' } };
    // The Python environment may still be made.
    const body = { ...tool, access_grants: [grant('*', 'read')] };
    const made = await callUntilFinal(
      urls,
      'POST /tools/create',
      { token, body, timeoutMs: 120_000 },
      300_000,
    );
    if (made.status !== 200) throw new Error(`The tool was refused: ${JSON.stringify(made.body)}`);
  }
  const numbers = Array.from({ length: count }, (_, n) => n);
  const people = await inParallel(numbers, WIDTH, async (n): Promise<PersonSetup> => {
    const account = { email: `person-${n}@example.com`, name: `Person ${n}`, password: PASSWORD };
    const made = await insist(urls, 'POST /users', { token, body: { ...account, role: 'user' } });
    return { id: made.id, email: account.email, password: PASSWORD, channels: [], guestOf: [] };
  });
  const channels = await makeChannels(urls, token, people, random);
  return { administrator: { id, token }, people, channels };
}

async function makeChannels(
  urls: readonly string[],
  token: string,
  people: PersonSetup[],
  random: Random,
): Promise<ChannelSetup[]> {
  const size = Math.min(PEOPLE_OF_CHANNEL, Math.max(2, Math.floor(people.length / 2)));
  const count = Math.max(3, Math.round((people.length * CHANNELS_OF_ONE) / size));
  const numbers = Array.from({ length: count }, (_, n) => n);
  return inParallel(numbers, WIDTH, async (n): Promise<ChannelSetup> => {
    const drawn = shuffled(people, random);
    // Each person has a channel at least.
    const first = new Set(people.filter((_, at) => at % count === n % people.length));
    const steady = [...first, ...drawn.filter((person) => !first.has(person))].slice(
      0,
      Math.max(size, first.size),
    );
    const guests =
      n % GUESTED === 0 ? drawn.filter((person) => !steady.includes(person)).slice(0, GUESTS) : [];
    const access_grants = steady.map((person) => grant(person.id, 'write'));
    const { id } = await insist(urls, 'POST /channels/create', {
      token,
      body: { name: `channel-${n}`, access_grants },
    });
    for (const person of steady) person.channels.push(id);
    for (const person of guests) person.guestOf.push(id);
    return { id, steady: steady.map((person) => person.id), guests: guests.map((person) => person.id) };
  });
}

async function connectModel(
  urls: readonly string[],
  token: string,
  provider: Installation['provider'],
): Promise<void> {
  const as = () => async (request: string, body?: unknown) => {
    const { status, body: answer } = await callUntilFinal(urls.slice(0, 1), request, { token, body });
    return { status, body: answer, headers: new Headers() };
  };
  const config = await insist(urls, 'GET /configs/export', { token });
  config.models.open_provider_models = true;
  await insist(urls, 'POST /configs/import', { token, body: config });
  await connectProvider({ as } as unknown as TestServer, { token }, provider);
}

/** A grant of each steady reader and of these guests. */
export const grantsOf = (channel: ChannelSetup, guests: Iterable<string>) =>
  [...channel.steady, ...guests].map((id) => grant(id, 'write'));

/** A word that occurs in many messages, for searches. */
export const pickWord = (random: Random): string => pick(WORDS, random);
const WORDS =
  'the nightly import took eleven minutes instead of four because new index is not used while old statistics are there I would analyse table once more and look again tomorrow'.split(
    ' ',
  );

/** A message of usual length. */
export const sentence = (random: Random): string =>
  Array.from({ length: 8 + Math.floor(random() * 24) }, () => pickWord(random)).join(' ');
