import { TOKENS_OF_FILE } from '../../completions/tokens.ts';
import { AppError } from '../../core/errors.ts';
import { isObject } from '../../core/json/json.ts';
import type { Scope } from '../../core/scope.ts';
import type { ResolvedModel } from '../../models/models.resolve.ts';
import type { ChatMessage } from '../../providers/providers.types.ts';
import { withLabels, withoutAddress } from '../replies.mentions.ts';
import { type HeardFiles, readHeardFiles } from './context.files.ts';
import { type HeardMessage, listHeard } from './context.repository.ts';
import type { ImageRoom } from './context.room.ts';
import { cutToRoom, type Piece, roomIn, tokensOf } from './context.window.ts';

interface Heard extends Piece {
  isOwn: boolean;
  images: readonly string[];
}

export interface Context {
  messages: ChatMessage[];
  /** The items of `data.files` of the message that calls, for tools. */
  files: object[];
  /** What the model did not get, for `meta.context`; null if it got everything. */
  leftOut: Record<string, number> | null;
}

/**
 * What the model is told about the channel. Names and messages of people are data: they never stand in the
 * system message.
 */
const instructionFor = (name: string) =>
  `You are ${name}. You take part in a conversation of several people. Each message of the others begins with the name of ` +
  'its author. Answer the last message. Do not begin with your name.';

/**
 * The conversation that a model answers, as the messages of a request, cut to what the model can read.
 *
 * @throws not_found if the message that calls was deleted, or the caller may not read the channel
 */
export async function readContext(
  scope: Scope,
  model: ResolvedModel,
  { channelId, calledBy, room: images }: { channelId: string; calledBy: string; room: ImageRoom },
): Promise<Context> {
  const messages = await listHeard(scope.sql, scope.actor, channelId, calledBy);
  const last = messages.at(-1);
  if (last?.id !== calledBy) {
    throw new AppError('not_found', { detail: 'The message that called the model was deleted.' });
  }
  const files = await readHeardFiles(scope, messages, {
    hasVision: model.capabilities.vision,
    room: images,
  });
  // With one person alone it is a plain chat: small models answer better without names and instructions.
  const authors = new Set(
    messages.filter(({ model_id }) => model_id !== model.id).map((one) => one.author_name),
  );
  const hasNames = authors.size > 1;
  const instruction = hasNames ? instructionFor(model.name) : '';
  const ownTokens = tokensOf(instruction) + tokensOf(model.system ?? '');
  const room = roomIn(model.provider.context_length, model.params) - ownTokens;
  const pieces = messages.map((message) => pieceOf(message, files, { modelId: model.id, hasNames }));
  const { kept, leftOut } = cutToRoom(pieces, Math.max(1, room));
  const counts = {
    messages_left_out: leftOut,
    images_left_out: files.imagesLeftOut,
    files_left_out: files.filesLeftOut,
  };
  return {
    messages: [...(hasNames ? [{ role: 'system' as const, content: instruction }] : []), ...requestOf(kept)],
    files: Array.isArray(last.files) ? last.files.filter(isObject) : [],
    leftOut: onlySome(counts),
  };
}

function onlySome(counts: Record<string, number>): Record<string, number> | null {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.length > 0 ? Object.fromEntries(some) : null;
}

function pieceOf(
  message: HeardMessage,
  files: HeardFiles,
  { modelId, hasNames }: { modelId: string; hasNames: boolean },
): Heard {
  const { id, content, author_name, model_id, is_root: isRoot } = message;
  const isOwn = model_id === modelId;
  const attached = (files.texts.get(id) ?? []).map(
    ({ name, text }) => `[File ${name}]\n${text}\n[End of ${name}]`,
  );
  const said = withLabels(hasNames ? content : withoutAddress(content, modelId));
  const words = [said, ...attached].join('\n\n');
  const images = files.images.get(id) ?? [];
  const text = isOwn || !hasNames ? words : `${author_name ?? 'Unknown'}: ${words}`;
  return { text, isOwn, isRoot, images, imageTokens: images.length * TOKENS_OF_FILE };
}

interface Turn {
  isOwn: boolean;
  texts: string[];
  images: string[];
}

/**
 * Messages of the model itself are the assistant's. Many models accept only turns that alternate and begin
 * with the user's, so messages in succession become one.
 */
function requestOf(pieces: readonly Heard[]): ChatMessage[] {
  const turns: Turn[] = [];
  const add = (isOwn: boolean, text: string, images: readonly string[] = []) => {
    const last = turns.at(-1);
    if (last?.isOwn !== isOwn) turns.push({ isOwn, texts: [text], images: [...images] });
    else {
      last.texts.push(text);
      last.images.push(...images);
    }
  };
  for (const { isOwn, text, images } of pieces) {
    if (isOwn && turns.length === 0) add(false, '(Earlier messages were left out.)');
    add(isOwn, text, isOwn ? [] : images);
    // An assistant's message cannot hold images.
    if (isOwn && images.length > 0) add(false, '(Images of the message above.)', images);
  }
  return turns.map(messageOf);
}

function messageOf({ isOwn, texts, images }: Turn): ChatMessage {
  const content = texts.join('\n\n');
  if (isOwn) return { role: 'assistant', content };
  if (images.length === 0) return { role: 'user', content };
  const parts = images.map((url) => ({ type: 'image_url' as const, image_url: { url } }));
  return { role: 'user', content: [{ type: 'text', text: content }, ...parts] };
}
