import {
  getLlama,
  LlamaCompletion,
  type LlamaContextSequence,
  LlamaLogLevel,
  type LlamaModel,
  type Token,
} from 'node-llama-cpp';
import { CONTEXT_TOKENS } from '../wire.ts';

/** The model often repeats itself without an end. */
const REPEAT_PENALTY = 1.1;
/** Prompts are read in pieces of this many tokens: the buffers of a piece take memory, and between pieces a call can end. */
const PIECE_TOKENS = 128;

export interface ChatTurn {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

export interface GenerateOptions {
  maxTokens: number;
  temperature: number;
  topP: number;
  seed?: number | undefined;
  stop: string[];
  frequencyPenalty: number;
  presencePenalty: number;
  signal: AbortSignal;
  onText(text: string): void;
}

export interface Generated {
  finishReason: 'stop' | 'length';
  completionTokens: number;
  /** Tokens of the prompt that were known from the call before. */
  cachedTokens: number;
}

export interface Model {
  /** The tokens of a conversation, up to where the answer begins. */
  tokenize(turns: readonly ChatTurn[]): Token[];
  /** One call at a time: it changes the state that the model keeps. */
  generate(prompt: Token[], options: GenerateOptions): Promise<Generated>;
}

/** Loads the weights. One thread: on a busy machine, several wait for each other at each of a thousand steps a token. */
export async function loadModel(file: string): Promise<Model> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    maxThreads: 1,
    logLevel: LlamaLogLevel.error,
    logger: (_level, message) => process.stderr.write(`${message.trim()}\n`),
  });
  const model = await llama.loadModel({ modelPath: file, ignoreMemorySafetyChecks: true });
  const context = await model.createContext({
    contextSize: CONTEXT_TOKENS,
    batchSize: PIECE_TOKENS,
    threads: 1,
    ignoreMemorySafetyChecks: true,
  });
  return new LoadedModel(model, context.getSequence());
}

class LoadedModel implements Model {
  readonly #model: LlamaModel;
  readonly #sequence: LlamaContextSequence;
  readonly #completion: LlamaCompletion;

  constructor(model: LlamaModel, sequence: LlamaContextSequence) {
    this.#model = model;
    this.#sequence = sequence;
    this.#completion = new LlamaCompletion({ contextSequence: sequence });
  }

  /** ChatML, which the model was trained on. Text that looks like one of its marks stays text. */
  tokenize(turns: readonly ChatTurn[]): Token[] {
    const mark = (text: string) => this.#model.tokenize(text, true);
    const plain = (text: string) => this.#model.tokenize(text, false);
    const tokens = turns.flatMap(({ role, content }) => [
      ...mark(`<|im_start|>${role}\n`),
      ...plain(content),
      ...mark('<|im_end|>\n'),
    ]);
    return [...tokens, ...mark('<|im_start|>assistant\n')];
  }

  async generate(prompt: Token[], options: GenerateOptions): Promise<Generated> {
    const { signal, onText, stop, frequencyPenalty, presencePenalty, seed, ...rest } = options;
    const maxTokens = Math.min(options.maxTokens, CONTEXT_TOKENS - 1 - prompt.length);
    const cachedTokens = await this.#read(prompt, signal);
    let completionTokens = 0;
    const { metadata } = await this.#completion.generateCompletionWithMeta(prompt, {
      ...rest,
      maxTokens,
      ...(seed !== undefined && { seed }),
      signal,
      onTextChunk: onText,
      onToken(tokens) {
        completionTokens += tokens.length;
      },
      customStopTriggers: stop,
      repeatPenalty: { penalty: REPEAT_PENALTY, frequencyPenalty, presencePenalty },
      disableContextShift: true,
      contextShiftSize: 1,
    });
    const finishReason = metadata.stopReason === 'maxTokens' ? 'length' : 'stop';
    return { finishReason, completionTokens, cachedTokens };
  }

  /** Reads the prompt but for its last token, in pieces. Returns how many tokens were read before. */
  async #read(prompt: Token[], signal: AbortSignal): Promise<number> {
    const sequence = this.#sequence;
    await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
    const known = sequence.nextTokenIndex;
    for (let at = known; at < prompt.length - 1; at += PIECE_TOKENS) {
      signal.throwIfAborted();
      await sequence.evaluateWithoutGeneratingNewTokens(
        prompt.slice(at, Math.min(at + PIECE_TOKENS, prompt.length - 1)),
      );
    }
    return known;
  }
}
