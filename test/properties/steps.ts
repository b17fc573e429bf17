import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { grant } from '../support/channels.ts';
import { type Operation, type Outcome, type Player, perform } from './stage.ts';

/** The acts of players. A post is sometimes sent twice: at once, or after its answer. */
const ACTS = {
  post: 8,
  reply: 5,
  quote: 2,
  mention: 2,
  edit: 4,
  delete: 4,
  react: 4,
  unreact: 2,
  pin: 2,
  unpin: 1,
  read: 2,
  type: 3,
  grants: 2,
  add: 4,
  remove: 3,
  leave: 1,
  promote: 1,
  demote: 2,
} as const;
type Act = keyof typeof ACTS;

/**
 * The channel where an act makes sense, by the order of creation. Elsewhere it is refused, which happens too.
 */
const HOME: { [act in Act]?: number } = { grants: 1, add: 2, remove: 2, leave: 2, promote: 2, demote: 2 };

/** Few players may do these; half of them are done by the administrator, or there would be too few. */
const MANAGING: readonly Act[] = ['grants', 'add', 'remove', 'promote', 'demote'];

const act = fc.oneof(
  ...Object.entries(ACTS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Act) })),
);
const step = fc.record({
  act,
  channel: fc.nat(3),
  /** The index of a known message, or of a player. */
  target: fc.nat(1000),
  again: fc.constantFrom('no', 'no', 'at once', 'afterwards'),
  byAdministrator: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A list of steps for each player. */
export const scripts = (players: number, { min, max }: { min: number; max: number }) =>
  fc.array(fc.array(step, { minLength: min, maxLength: max }), { minLength: players, maxLength: players });

/** One attempted act. */
export interface Entry {
  by: Player;
  /** Unix milliseconds. */
  beganMs: number;
  act: Act;
  channelId: string;
  /** The message that it concerns; for a post, the new message once it is known. */
  messageId: string | undefined;
  input: Record<string, unknown>;
  outcome: Outcome;
}

const REACTIONS = ['wave', '+1', '🎉'];

export interface Scene {
  players: Player[];
  channelIds: string[];
  /** The server to write to; waits while none runs. */
  where(player: Player): Promise<string>;
}

/**
 * All players act by their scripts at the same time. Resolves with the attempted acts, in order for each
 * player.
 */
export async function play(scene: Scene, written: Step[][], onEntry = () => {}): Promise<Entry[]> {
  const known = new Map<string, string[]>(scene.channelIds.map((id) => [id, []]));
  const journal: Entry[] = [];
  let posts = 0;

  async function take(player: Player, step: Step): Promise<void> {
    const [administrator = player] = scene.players;
    const by = step.byAdministrator && MANAGING.includes(step.act) ? administrator : player;
    const beganMs = Date.now();
    const home = step.target % 8 === 0 ? undefined : HOME[step.act];
    const channelId = scene.channelIds[home ?? step.channel] ?? '';
    const messages = known.get(channelId) ?? [];
    const message_id = messages[step.target % (messages.length || 1)];
    const whom = scene.players[step.target % scene.players.length] ?? by;
    posts += 1;
    const operation = operationOf(step, { channelId, message_id, whom, serial: posts, scene });
    const attempt = async (): Promise<Outcome> => perform(await scene.where(by), by, operation);
    const isPost = operation.procedure === 'messages.post';
    const outcomes =
      isPost && step.again === 'at once' ? await Promise.all([attempt(), attempt()]) : [await attempt()];
    // Without an answer, the player sends the post again, which must not store a second message.
    const isUnanswered = outcomes.every(({ status }) => status === 0);
    if (isPost && (step.again === 'afterwards' || isUnanswered)) outcomes.push(await attempt());
    for (const outcome of outcomes) {
      const messageId = isPost ? outcome.body?.id : operation.input.message_id;
      const entry = { by, beganMs, act: step.act, channelId, messageId, input: operation.input, outcome };
      journal.push(entry);
      onEntry();
      if (isPost && outcome.status === 200 && !messages.includes(messageId)) messages.push(messageId);
    }
  }
  await Promise.all(
    scene.players.map(async (player, n) => {
      for (const step of written[n] ?? []) await take(player, step);
    }),
  );
  return journal;
}

interface Circumstances {
  channelId: string;
  message_id: string | undefined;
  whom: Player;
  serial: number;
  scene: Scene;
}

function operationOf({ act, target }: Step, circumstances: Circumstances): Operation {
  const { channelId: id, message_id, whom, serial, scene } = circumstances;
  const inChannel = (procedure: string, request: string, more: Record<string, unknown> = {}): Operation => {
    const [method, path = ''] = request.split(' ');
    return { procedure, request: `${method} /channels/{id}${path}`, input: { id, ...more } };
  };
  const post = (content: string, more: Record<string, unknown> = {}) =>
    inChannel('messages.post', 'POST /messages/post', { content, temp_id: `t${serial}`, ...more });
  const on = (procedure: string, request: string, more: Record<string, unknown> = {}) =>
    message_id === undefined
      ? post(`first ${serial}`)
      : inChannel(procedure, request.replace(' ', ' /messages/{message_id}'), { message_id, ...more });
  const reaction = { name: REACTIONS[target % REACTIONS.length] };
  const people = { user_ids: [whom.id] };
  switch (act) {
    case 'post':
      return post(`post ${serial}`);
    case 'reply':
      return post(`reply ${serial}`, { parent_id: message_id });
    case 'quote':
      return post(`quote ${serial}`, { reply_to_id: message_id });
    case 'mention':
      return post(`mention ${serial} <@U:${whom.id}|${whom.name}>`);
    case 'edit':
      return on('messages.update', 'POST /update', { content: `edit ${serial} <@U:${whom.id}|x>` });
    case 'delete':
      return on('messages.delete', 'DELETE /delete');
    case 'react':
      return on('reactions.add', 'POST /reactions/add', reaction);
    case 'unreact':
      return on('reactions.remove', 'POST /reactions/remove', reaction);
    case 'pin':
    case 'unpin':
      return on('messages.pin', 'POST /pin', { is_pinned: act === 'pin' });
    case 'read':
      return inChannel('readers.markRead', 'POST /read');
    case 'type':
      // A random id identifies this notice; no thread has it.
      return inChannel('members.typing', 'POST /typing', { message_id: randomUUID() });
    case 'grants':
      return inChannel('channels.update', 'POST /update', {
        access_grants: grantsFor(target, scene.players),
      });
    case 'add':
      return inChannel('members.add', 'POST /update/members/add', people);
    case 'remove':
      return inChannel('members.remove', 'POST /update/members/remove', people);
    case 'leave':
      return inChannel('members.leave', 'POST /members/leave');
    case 'promote':
    case 'demote': {
      const role = act === 'promote' ? 'manager' : 'member';
      return inChannel('members.setRole', 'POST /members/role', { user_id: whom.id, role });
    }
  }
}

/** Each number means another set of readers and writers. */
const grantsFor = (number: number, players: Player[]) =>
  players.slice(1).flatMap(({ id }, n) => {
    const right = Math.floor(number / 3 ** n) % 3;
    return right === 0 ? [] : [grant(id, right === 1 ? 'read' : 'write')];
  });
