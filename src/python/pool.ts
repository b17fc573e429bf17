import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { describeUnstorable, LIMITS } from '../core/wire.ts';
import { bound, currentRequestId } from '../core/work.ts';
import type { Payload } from './channel.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { openPackages, type Packages } from './packages/packages.ts';
import { Places, type ToolSource } from './places.ts';
import { type Answer, type CallOptions, encodeOrder, NotBegun } from './process/call.ts';
import { CheckedValves, JsonSchema, type ToolRequest, type ToolUser } from './protocol.ts';
import type {
  Inspection,
  InspectOptions,
  Python,
  PythonLoad,
  PythonOptions,
  ToolAnswer,
  ToolCall,
  ValvesRequest,
} from './python.ts';
import { type PythonState, type Supervisor, superviseHost } from './supervisor.ts';
import { Turns } from './turns.ts';

export type { Limits } from './limits.ts';
export type { Packages, PackagesState } from './packages/packages.ts';
export type { ToolSource } from './places.ts';
export type { AskCaller } from './process/questions.ts';
export type { CallContext, CheckedValves, FunctionSpec, JsonSchema, Usage, ValvesKind } from './protocol.ts';
export type {
  Inspection,
  InspectOptions,
  Python,
  PythonLoad,
  PythonOptions,
  ToolAnswer,
  ToolCall,
} from './python.ts';
export type { PythonState } from './supervisor.ts';

/** How many processes may get a call that none of them begins. */
const ATTEMPTS = 3;

/** Returns at once; the environment is made and the host started in the background. */
export function startPython(options: PythonOptions): Python {
  return new ToolPool(options);
}

class ToolPool implements Python {
  readonly settled: Promise<void>;
  readonly packages: Packages;
  readonly #limits: Limits;
  readonly #supervisor: Supervisor;
  readonly #turns: Turns;
  readonly #places: Places;

  constructor(options: PythonOptions) {
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    const supervisor = superviseHost({
      folder: options.environmentDir ?? join(options.dataDir, 'python'),
      interpreter: options.interpreter,
      limits: this.#limits,
      log: options.log,
    });
    this.#supervisor = supervisor;
    this.settled = supervisor.settled;
    this.packages = openPackages({
      folder: join(options.dataDir, 'python-packages'),
      base: () => supervisor.base(),
      log: options.log,
    });
    this.#turns = new Turns(this.#limits);
    this.#places = new Places(() => supervisor.host(), this.#limits, this.#turns);
  }

  state(): PythonState {
    return this.#supervisor.state();
  }

  async interpreter(): Promise<string> {
    return (await this.#supervisor.base()).python;
  }

  load(): PythonLoad {
    const { processes, waiting: waitingForProcess } = this.#places.load();
    const { running, waiting: waitingForTurn } = this.#turns.load();
    return { processes, most: this.#limits.processes, running, waitingForTurn, waitingForProcess };
  }

  async inspect(
    source: ToolSource,
    { isStrict, installed, person, signal }: InspectOptions = {},
  ): Promise<Inspection> {
    const giveBack = await this.#turns.take(person, source.content.length, signal);
    try {
      const launched = this.#places.launch({ ...source, isStrict, installed, isNew: true }, person);
      try {
        const process = await unlessAborted(launched, signal);
        const loaded = await unlessAborted(process.loaded, signal);
        const { content, manifest, missing, warnings, specs, valves, user_valves } = loaded;
        // The tool describes itself, so its description is untrusted.
        const problem = describeUnstorable({ manifest, specs, valves, user_valves }, LIMITS.freeFormBytes);
        if (problem) throw new AppError('tool_invalid', { detail: `The specification ${problem}.` });
        this.#places.keep({ ...source, content }, process);
        return { content, manifest, missing, warnings, specs, valves, user_valves };
      } catch (error) {
        launched.then(
          (process) => process.stop(),
          () => {},
        );
        throw error;
      }
    } finally {
      giveBack();
    }
  }

  async call({
    tool,
    context = {},
    baseUrl = '',
    valves,
    userValves,
    ...request
  }: ToolCall): Promise<ToolAnswer> {
    const { timeoutMs = this.#limits.callTimeoutMs, signal, onEvent, onAsk, onRequest, onUsage } = request;
    const { result, events, output, durationMs } = await this.#ask(
      tool,
      {
        kind: 'call',
        function: request.function,
        arguments: request.arguments,
        user: request.user,
        valves: valves ?? null,
        user_valves: userValves ?? null,
        context,
        base_url: baseUrl,
        request_id: currentRequestId() ?? '',
      },
      {
        timeoutMs,
        person: request.user.id,
        signal,
        // A process that serves many calls sends what these get.
        onEvent: onEvent && bound(onEvent),
        onAsk: onAsk && bound(onAsk),
        onRequest: onRequest && bound(onRequest),
        onUsage,
      },
    );
    return { result: result.text, events, output, duration_ms: Math.round(durationMs * 1000) / 1000 };
  }

  async checkValves({
    tool,
    which,
    values,
    person,
    signal,
  }: ValvesRequest & { values: Record<string, unknown> }) {
    const options = { isOfItself: true, timeoutMs: this.#limits.loadTimeoutMs, person, signal };
    const { result } = await this.#ask(tool, { kind: 'check', which, values }, options);
    return requireStorable(CheckedValves.safeParse(read(result)).data, 'The valves of the tool');
  }

  async describeValves({ tool, which, user, signal }: ValvesRequest & { user: ToolUser }) {
    const options = { isOfItself: true, timeoutMs: this.#limits.loadTimeoutMs, person: user.id, signal };
    const { result } = await this.#ask(tool, { kind: 'describe', which, user }, options);
    return requireStorable(JsonSchema.safeParse(read(result)).data, 'The specification of the valves');
  }

  evict(toolId: string): void {
    this.#places.evict(toolId);
  }

  async close(): Promise<void> {
    this.#places.close();
    await this.packages.close();
    await this.#supervisor.close();
  }

  /**
   * Sends one request to a tool. A request that a process did not begin goes to another process; a begun
   * request is never sent twice.
   */
  async #ask(
    tool: ToolSource,
    request: ToolRequest,
    options: CallOptions & { person: string | undefined },
  ): Promise<Answer> {
    const { person, signal } = options;
    const order = encodeOrder(request);
    const giveBack = await this.#turns.take(person, order.body.length, signal);
    let left = Promise.resolve();
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          // Also runs for a caller that has gone: a process started only for that caller is ended then.
          const asked = this.#places.find(tool, person).then((process) => process.request(order, options));
          left = asked.then(
            (one) => one.left,
            () => {},
          );
          const { answer } = await unlessAborted(asked, signal);
          return await answer;
        } catch (error) {
          const isHarmed = error instanceof NotBegun && error.isHarmed;
          const isInterrupted = error instanceof AppError && error.code === 'tool_interrupted';
          if (isHarmed || isInterrupted) this.#places.setApart(tool, person);
          if (!(error instanceof NotBegun)) throw error;
          if (attempt === ATTEMPTS) throw error.error;
        }
      }
    } finally {
      // An abandoned call may still run, and counts until it ends.
      void left.then(giveBack);
    }
  }
}

/** A tool's description of itself, when it has the right form and can be stored. @throws tool_raised */
function requireStorable<T extends object>(said: T | undefined, what: string): T {
  if (!said) throw new AppError('tool_raised', { detail: `${what} did not come in their form.` });
  const problem = describeUnstorable(said, LIMITS.freeFormBytes);
  if (problem) throw new AppError('tool_raised', { detail: `${what} ${problem}.` });
  return said;
}

/** A tool's description of itself; undefined when it is too large to read. */
function read(result: Payload): unknown {
  try {
    return result.parse();
  } catch {
    return undefined;
  }
}

/** The outcome of the promise or a rejection with the reason of the signal, whichever comes first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
