import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { ChatMessage } from '../providers/providers.types.ts';
import type { CallContext } from '../python/pool.ts';
import type { CompletionRequest, ToolCallRecord } from './completions.types.ts';
import { readArguments, type StreamedCall } from './round.calls.ts';
import type { Offer } from './tool.offer.ts';
import type { SourceCall } from './tool.source.ts';

/** What a model gets of one result, in characters. */
const MOST_RESULT = 64 * 1024;
const MOST_STATUSES = 100;
const LONGEST_STATUS = 1_000;
const MOST_FILES = 20;
const MOST_FILE_CHARACTERS = 64 * 1024;
/** What an error repeats of arguments that are no JSON, in characters. */
const MOST_QUOTED = 200;

/** A change of a record that the caller of the turn has not seen yet. */
interface Change {
  record: ToolCallRecord;
  apply(record: ToolCallRecord): void;
}

/** The calls of one round, all at once. Their records come with each change, and change only then; the last change of each is its end. */
export class RunningCalls {
  readonly #scope: Scope;
  readonly #offer: Offer;
  readonly #context: CallContext;
  readonly #onAsk: CompletionRequest['onAsk'];
  readonly #records: ToolCallRecord[];
  readonly #changes: Change[] = [];
  readonly #over = new AbortController();
  #wake = Promise.withResolvers<void>();
  #open = 0;

  constructor(
    scope: Scope,
    offer: Offer,
    {
      context,
      calls,
      onAsk,
    }: { context: CallContext; calls: readonly StreamedCall[] } & Pick<CompletionRequest, 'onAsk'>,
  ) {
    this.#scope = scope;
    this.#offer = offer;
    this.#context = context;
    this.#onAsk = onAsk;
    this.#records = calls.map((call) => ({
      id: call.id,
      tool_id: offer.served.get(call.name)?.toolId ?? '',
      name: call.name,
      arguments: call.arguments,
      status: 'running',
      awaits_answer: false,
      statuses: [],
      result: null,
      duration_ms: null,
      files: [],
    }));
  }

  /** The results for the model. */
  get messages(): ChatMessage[] {
    return this.#records.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result ?? '' }));
  }

  /**
   * Runs the calls, or ends them with an error. Leaving the loop, or the signal, ends those that run.
   *
   * @param refusal the result of all calls, when none is to run
   * @throws the reason of the signal
   */
  async *run(signal: AbortSignal, refusal?: string): AsyncGenerator<ToolCallRecord> {
    const end = () => {
      this.#over.abort(signal.reason);
      this.#wake.resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    try {
      if (!refusal) yield* this.#records;
      for (const record of this.#records) {
        this.#open += 1;
        void this.#runOne(record, refusal);
      }
      for (;;) {
        signal.throwIfAborted();
        const change = this.#changes.shift();
        if (change) {
          change.apply(change.record);
          yield change.record;
        } else if (this.#open === 0) return;
        else {
          await this.#wake.promise;
          this.#wake = Promise.withResolvers<void>();
        }
      }
    } finally {
      signal.removeEventListener('abort', end);
      this.#over.abort(new AppError('bad_request', { detail: 'The turn of the model is over.' }));
    }
  }

  async #runOne(record: ToolCallRecord, refusal: string | undefined): Promise<void> {
    const startedAt = performance.now();
    let [status, result]: [ToolCallRecord['status'], string] = ['done', ''];
    try {
      if (refusal) throw new AppError('bad_request', { detail: refusal });
      result = bounded(await this.#call(record));
    } catch (error) {
      [status, result] = ['failed', bounded(`Error: ${this.#inWords(error)}`)];
    }
    const duration_ms = Math.round((performance.now() - startedAt) * 1000) / 1000;
    this.#open -= 1;
    this.#tell(record, (ended) =>
      Object.assign(ended, { status, result, duration_ms, awaits_answer: false }),
    );
  }

  async #call(record: ToolCallRecord): Promise<string> {
    const { served } = this.#offer;
    const offered = served.get(record.name);
    if (!offered) {
      const known = [...served.keys()].join(', ');
      throw new AppError('not_found', {
        detail: `There is no tool ${quoted(record.name)}. There are: ${known}.`,
      });
    }
    const input = readArguments(record.arguments);
    if (!input) {
      const detail = `The arguments must be a JSON object. They were: ${quoted(record.arguments)}`;
      throw new AppError('arguments_invalid', { detail });
    }
    // The key of the caller may have been changed since the tools were offered.
    if (this.#scope.actor.keyId !== null) await this.#scope.identify(offered.source.reach(offered.toolId));
    let [statuses, files] = [0, 0];
    return offered.source.call(this.#scope, {
      toolId: offered.toolId,
      function: offered.function,
      arguments: input,
      context: this.#context,
      onAsk: this.#asker(record),
      onStatus: (line) => {
        statuses += 1;
        if (statuses > MOST_STATUSES) return;
        this.#tell(record, (of) => of.statuses.push(line.slice(0, LONGEST_STATUS)));
      },
      onFile: (file) => {
        files += 1;
        if (files > MOST_FILES || JSON.stringify(file).length > MOST_FILE_CHARACTERS) return;
        this.#tell(record, (of) => of.files.push(file));
      },
      signal: this.#over.signal,
    });
  }

  #asker(record: ToolCallRecord): SourceCall['onAsk'] {
    const onAsk = this.#onAsk;
    if (!onAsk) return undefined;
    let open = 0;
    const count = (change: number) => {
      open += change;
      const awaits_answer = open > 0;
      this.#tell(record, (of) => Object.assign(of, { awaits_answer }));
    };
    return async (event, wait) => {
      count(1);
      const { id, tool_id, name } = record;
      return onAsk({ call: { id, tool_id, name }, event, ...wait }).finally(() => count(-1));
    };
  }

  #tell(record: ToolCallRecord, apply: Change['apply']): void {
    this.#changes.push({ record, apply });
    this.#wake.resolve();
  }

  /** Failures that are not for callers are logged. */
  #inWords(error: unknown): string {
    if (error instanceof AppError) return error.message;
    if (!this.#over.signal.aborted) this.#scope.log.error({ err: error }, 'A tool of a model failed.');
    return 'The tool could not be called.';
  }
}

const quoted = (text: string) =>
  JSON.stringify(text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text);

/** A result within its limit. A model that gets a part must know that it is one. */
function bounded(text: string): string {
  if (text.length <= MOST_RESULT) return text.toWellFormed();
  return `${text.slice(0, MOST_RESULT).toWellFormed()}\n[The result was cut: it has ${text.length} characters.]`;
}
