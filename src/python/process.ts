import { AppError, type ErrorCode } from '../core/errors.ts';
import type { Ended, Host } from './host.ts';
import { type CallRequest, type Limits, MAX_EVENT_CHARACTERS, MAX_EVENTS, ToolMessage } from './protocol.ts';

type Prepared = Extract<ToolMessage, { kind: 'prepared' }>;
type Loaded = Extract<ToolMessage, { kind: 'loaded' }>;

export interface CallOptions {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  onEvent: ((event: unknown) => void) | undefined;
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
  /** Asks one function; waits for the load when that is under way. */
  call(request: Omit<CallRequest, 'kind' | 'call'>, options: CallOptions): Promise<Answer>;
  /** Ends it at once; calls under way fail. */
  stop(): void;
  /** Ends it as soon as it has nothing to do. */
  retire(): void;
}

interface PendingCall {
  events: unknown[];
  eventCharacters: number;
  onEvent: CallOptions['onEvent'];
  startedAt: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
  finish(): void;
}

/** Starts a process for a tool and loads it. */
export function loadTool(
  host: Host,
  tool: { id: string; content: string },
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

  const spawned = host.spawn({
    onMessage(message) {
      const parsed = ToolMessage.safeParse(message);
      if (parsed.success) receive(parsed.data);
      else end(isLoading ? 'tool_invalid' : 'tool_raised', stopped('it wrote to the channel of the server'));
    },
    onFault: (reason) => end(isLoading ? 'tool_invalid' : 'tool_raised', stopped(reason)),
  });
  const loadTimer = setTimeout(
    () => end('tool_invalid', `The tool did not finish loading within ${limits.loadTimeoutMs / 1000} s.`),
    limits.loadTimeoutMs,
  );
  spawned.connected.then(
    () => spawned.send({ kind: 'load', id: tool.id, content: tool.content }),
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
        prepared ??= message;
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
        if (!call) break;
        call.events.push(message.event);
        call.onEvent?.(message.event);
        // The host counts too, but what a tool writes past it arrives here.
        call.eventCharacters += JSON.stringify(message.event)?.length ?? 0;
        if (call.events.length > MAX_EVENTS || call.eventCharacters > MAX_EVENT_CHARACTERS)
          end('tool_raised', stopped('it emitted too many events'));
        break;
      }
      case 'result':
        settle(message.call, ({ events, startedAt, resolve }) => {
          const durationMs = performance.now() - startedAt;
          resolve({ result: message.result, events, output: message.output, durationMs });
        });
        break;
      case 'error': {
        const { code, detail, issues } = message;
        const error = new AppError(code, issues.length > 0 ? { detail, issues } : { detail });
        settle(message.call, (call) => call.reject(error));
      }
    }
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
    call(request, { timeoutMs, signal, onEvent }) {
      if (ending) return Promise.reject(ending);
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const number = ++lastCall;
      let timer: NodeJS.Timeout | undefined;
      const abort = () => {
        reject(signal?.reason);
        // A thread cannot be stopped. Alone in its process it ends with it; else its time limit still holds.
        if (calls.size === 1 && !isLoading) end('tool_raised', stopped('its only call was cancelled'));
      };
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const call: PendingCall = {
        events: [],
        eventCharacters: 0,
        onEvent,
        startedAt: 0,
        resolve,
        reject,
        finish,
      };
      const begin = () => {
        if (ending) return;
        call.startedAt = self.lastUsedAt = performance.now();
        timer = setTimeout(() => {
          const detail = `The function ${request.function} took longer than ${timeoutMs / 1000} s and was stopped.`;
          const error = new AppError('tool_timeout', { detail });
          end('tool_raised', stopped('another call of it took too long'), { call: number, error });
        }, timeoutMs);
        spawned.send({ kind: 'call', call: number, ...request });
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

function stopped(reason: string): string {
  return `The process of the tool was stopped because ${reason}.`;
}

function describe({ code, signal }: Ended): string {
  if (code === null && signal === null) return 'the Python host had to start anew; try again';
  if (signal === 'SIGKILL') return 'it was killed, probably for want of memory';
  if (signal === 'SIGXCPU') return 'it used up its CPU time';
  return signal ? `it crashed (${signal})` : `exit status ${code}`;
}
