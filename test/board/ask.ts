import OpenAI from 'openai';
import { BOARD_URL, type Board } from '../../src/board/board.ts';

type Params = Partial<Omit<OpenAI.ChatCompletionCreateParams, 'stream' | 'messages'>>;

/** The official client, which calls the model on board. */
export const clientOf = (board: Board): OpenAI =>
  new OpenAI({ baseURL: BOARD_URL, apiKey: 'none', fetch: board.fetch, maxRetries: 0 });

const base = (content: string) => ({
  model: 'smollm2-135m',
  messages: [{ role: 'user' as const, content }],
  temperature: 0,
});

/** A streamed answer to one message. */
export const askBoard = (board: Board, content: string, params: Params = {}) =>
  clientOf(board).chat.completions.create({
    ...base(content),
    stream_options: { include_usage: true },
    ...params,
    stream: true,
  });

/** A whole answer to one message. */
export const askWhole = (board: Board, content: string, params: Params = {}) =>
  clientOf(board).chat.completions.create({ ...base(content), ...params, stream: false });
