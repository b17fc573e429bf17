import { AppError, type ErrorCode } from '../core/errors.ts';
import { Clock } from './clock.ts';
import type { Ended, Host } from './host.ts';
import {
  type Limits,
  type LoadRequest,
  MAX_EVENT_CHARACTERS,
  MAX_EVENTS,
  MAX_UNREAD_BYTES,
  ToolMessage,
  type ToolRequest,
  type Usage,
} from './protocol.ts';
import { type Answerers, type Asking, openQuestions } from './questions.ts';

type Prepared = Extract<ToolMessage, { kind: 'prepared' }>;
type Loaded = Extract<ToolMessage, { kind: 'loaded' }>;

export interface CallOptions extends Answerers {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  onEvent?: ((event: unknown) => void) | undefined;
  /** Told before the answer or the error, when the process could say it. */
  onUsage?: ((usage: Usage) => void) | undefined;
}

export interface Answer {
  result: unknown;
  /** What the function emitted, in order. */
  events: unknown[];
  /** The last of what it printed. */
  output: string;
  /** From the moment at which the loaded tool was asked. */
  durationMs: number;
}

export interface ToolProcessHandlers {
  /** It has nothing to do for now. */
  onIdle(): void;
  /** It takes no calls any more. */
  onEnding(): void;
  /** The process has ended, with all that it had started. */
  onGone(): void;
}

/** A tool that runs in a process of its own. */
export interface ToolProcess {
  /** Rejects with tool_invalid or python_unavailable. */
  loaded: Promise<Prepared & Omit<Loaded, 'kind'>>;
  /** True from the first reason to end on: it takes no calls any more. */
  isEnding(): boolean;
  /** True while it loads or answers calls. */
  isBusy(): boolean;
  /** `performance.now()` of the latest call. */
  lastUsedAt: number;
  /** Asks for one thing; waits for the load when that is under way. */
  request(request: ToolRequest, options: CallOptions): Promise<Answer>;
  /** Ends it at once; calls under way fail. */
  stop(): void;
  /** Ends it as soon as it has nothing to do. */
  retire(): void;
}

interface PendingCall extends Asking {
  options: CallOptions;
  events: unknown[];
  eventCharacters: number;
  startedAt: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
  finish(): void;
}

export interface LoadedFrom {
  id: string;
  content: string;
  /** The folder of its packages. */
  packages?: string | undefined;
  /** Ends before the source is run when packages that it asks for are not there: `loaded` says nothing of it then. */
  isStrict?: boolean | undefined;
}

/** Starts a process for a tool and loads it. */
export function loadTool(
  host: Host,
  tool: LoadedFrom,
  limits: Limits,
  { onIdle, onEnding, onGone }: ToolProcessHandlers,
): ToolProcess {
  const calls = new Map<number, PendingCall>();
  const loading = Promise.withResolvers<Prepared & Omit<Loaded, 'kind'>>();
  loading.promise.catch(() => {});
  let lastCall = 0;
  let isLoading = true;
  let ending: AppError | undefined;
  let isRetired = false;
  let prepared: Prepared | undefined;

  /** Fails everything that waits and ends the process. `first` is the call that is to blame, with its own error. */
  const end = (code: ErrorCode, reason: string, first?: { call: number; error: AppError }) => {
    if (ending) return;
    ending = new AppError(code, { detail: reason });
    clearTimeout(loadTimer);
    spawned.kill();
    loading.reject(ending);
    for (const [number, call] of calls) {
      call.finish();
      call.reject(number === first?.call ? first.error : ending);
    }
    onEnding();
  };

  const spawned = host.spawn(tool.packages, {
    onMessage(message) {
      const parsed = ToolMessage.safeParse(message);
      if (parsed.success) receive(parsed.data);
      else end(isLoading ? 'tool_invalid' : 'tool_raised', stopped('it wrote to the channel of the server'));
    },
    onFault: (reason) => end(isLoading ? 'tool_invalid' : 'tool_raised', stopped(reason)),
  });
  const questions = openQuestions(limits, spawned.send);
  const loadTimer = setTimeout(
    () => end('tool_invalid', `The tool did not finish loading within ${limits.loadTimeoutMs / 1000} s.`),
    limits.loadTimeoutMs,
  );
  spawned.connected.then(
    () =>
      spawned.send({
        kind: 'load',
        id: tool.id,
        content: tool.content,
        is_lenient: !tool.isStrict,
      } satisfies LoadRequest),
    (cause: Error) =>
      end('python_unavailable', `A process for the tool could not be started: ${cause.message}.`),
  );
  spawned.ended.then((how) => {
    if (isLoading) end('tool_invalid', `The tool ended its process while it was loading: ${describe(how)}.`);
    else end('tool_raised', `The process of the tool ended: ${describe(how)}.`);
    onGone();
  });

  function receive(message: ToolMessage): void {
    if (ending) return;
    switch (message.kind) {
      case 'prepared':
        // The first one is said before any code of the tool runs; later ones could be its own.
        if (prepared) break;
        prepared = message;
        if (tool.isStrict && message.missing.length > 0) {
          loading.resolve({ ...message, specs: [], valves: null, user_valves: null });
          end('tool_invalid', 'Packages that the tool asks for are not installed.');
        }
        break;
      case 'refused':
        end('tool_invalid', message.detail);
        break;
      case 'loaded':
        if (!prepared || !isLoading) break;
        isLoading = false;
        clearTimeout(loadTimer);
        loading.resolve({ ...message, ...prepared });
        idle();
        break;
      case 'event': {
        const call = calls.get(message.call);
        if (!call || !count(call, message.event)) break;
        call.events.push(message.event);
        call.options.onEvent?.(message.event);
        break;
      }
      case 'ask': {
        const call = calls.get(message.call);
        if (call && count(call, message.event)) void questions.ask(call, message);
        break;
      }
      case 'request': {
        const call = calls.get(message.call);
        if (call) void questions.request(call, message);
        break;
      }
      case 'result':
        settle(message.call, ({ events, startedAt, options, resolve }) => {
          options.onUsage?.(message.usage);
          const durationMs = performance.now() - startedAt;
          resolve({ result: message.result, events, output: message.output, durationMs });
        });
        break;
      case 'error': {
        const { code, detail, issues } = message;
        const error = new AppError(code, issues.length > 0 ? { detail, issues } : { detail });
        settle(message.call, (call) => {
          call.options.onUsage?.(message.usage);
          call.reject(error);
        });
      }
    }
  }

  /** The host counts too, but what a tool writes past it arrives here. False when it was too much. */
  function count(call: PendingCall, event: unknown): boolean {
    call.eventCharacters += JSON.stringify(event)?.length ?? 0;
    const isWithin =
      call.events.length + call.asks < MAX_EVENTS && call.eventCharacters <= MAX_EVENT_CHARACTERS;
    if (!isWithin) end('tool_raised', stopped('it emitted too many events'));
    return isWithin;
  }

  function settle(number: number, how: (call: PendingCall) => void): void {
    const call = calls.get(number);
    if (!call) return;
    calls.delete(number);
    call.finish();
    how(call);
    idle();
  }

  function idle(): void {
    if (calls.size > 0) return;
    if (isRetired) end('tool_raised', stopped('it is no longer needed'));
    onIdle();
  }

  const self: ToolProcess = {
    loaded: loading.promise,
    isEnding: () => ending !== undefined,
    isBusy: () => isLoading || calls.size > 0,
    lastUsedAt: performance.now(),
    stop: () => end('tool_raised', stopped('it is no longer needed')),
    retire() {
      isRetired = true;
      if (!isLoading) idle();
    },
    request(request, options) {
      if (ending) return Promise.reject(ending);
      if (spawned.unread() > MAX_UNREAD_BYTES) {
        const detail = 'The tool is busy, and too much waits for it already. Try again in a moment.';
        return Promise.reject(new AppError('python_unavailable', { detail, retryAfterSeconds: 5 }));
      }
      const { timeoutMs, signal } = options;
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const number = ++lastCall;
      const over = new AbortController();
      const abort = () => {
        reject(signal?.reason);
        // A thread cannot be stopped. Alone in its process it ends with it; else its time limit still holds.
        if (calls.size === 1 && !isLoading) end('tool_raised', stopped('its only call was cancelled'));
      };
      const finish = () => {
        call.clock?.stop();
        over.abort();
        signal?.removeEventListener('abort', abort);
      };
      const call: PendingCall = {
        options,
        events: [],
        eventCharacters: 0,
        asks: 0,
        requests: 0,
        startedAt: 0,
        clock: undefined,
        over,
        resolve,
        reject,
        finish,
      };
      const begin = () => {
        if (ending) return;
        call.startedAt = self.lastUsedAt = performance.now();
        call.clock = new Clock(timeoutMs, () => {
          const detail = `${nameOf(request)} took longer than ${timeoutMs / 1000} s and was stopped.`;
          const error = new AppError('tool_timeout', { detail });
          end('tool_raised', stopped('another call of it took too long'), { call: number, error });
        });
        spawned.send({ call: number, ...request });
      };
      signal?.addEventListener('abort', abort, { once: true });
      calls.set(number, call);
      if (isLoading) loading.promise.then(begin, () => {});
      else begin();
      return promise;
    },
  };
  return self;
}

const nameOf = (request: ToolRequest): string =>
  request.kind === 'call' ? `The function ${request.function}` : 'The code of the valves';

function stopped(reason: string): string {
  return `The process of the tool was stopped because ${reason}.`;
}

function describe({ code, signal }: Ended): string {
  if (code === null && signal === null) return 'the Python host had to start anew; try again';
  if (signal === 'SIGKILL') return 'it was killed, probably for want of memory';
  if (signal === 'SIGXCPU') return 'it used up its CPU time';
  return signal ? `it crashed (${signal})` : `exit status ${code}`;
}
