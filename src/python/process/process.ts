import { AppError, type ErrorCode } from '../../core/errors.ts';
import { LIMITS } from '../../core/wire.ts';
import type { Payload } from '../channel.ts';
import type { Host } from '../host.ts';
import {
  CallFailure,
  type Limits,
  Loaded,
  type LoadRequest,
  MAX_EVENT_BYTES,
  MAX_EVENTS,
  MAX_REQUESTS,
  MAX_SAID_BYTES,
  MAX_UNREAD_BYTES,
  Prepared,
  Refusal,
  type Reply,
  ToolMessage,
} from '../protocol.ts';
import { type Asked, type CallOptions, NotBegun, type Order, openCalls, type PendingCall } from './calls.ts';
import { describeEnd, stopped } from './endings.ts';
import { openQuestions } from './questions.ts';

const TOO_LONG = `must be at most ${LIMITS.freeFormBytes} bytes as JSON`;
const NO_STRAYS = { messages: 0, bytes: 0 };

export interface ToolProcessHandlers {
  /** The process is idle. */
  onIdle(): void;
  /** The process takes no further calls. */
  onEnding(): void;
  /** The process has ended, with all processes that it started. */
  onGone(): void;
}

/** A tool that runs in its own process. */
export interface ToolProcess {
  /** Rejects with tool_invalid or python_unavailable. */
  loaded: Promise<Prepared & Loaded>;
  /** True from the first reason to end: the process takes no further calls. */
  isEnding(): boolean;
  /** True while it loads or answers calls. */
  isBusy(): boolean;
  /** `performance.now()` of the latest call. */
  lastUsedAt: number;
  /** Sends one request; waits for the load while that is under way. */
  request(order: Order, options: CallOptions): Asked;
  /** Ends the process at once; calls under way fail. */
  stop(): void;
  /** Ends the process as soon as it is idle. */
  retire(): void;
}

export interface LoadedFrom {
  id: string;
  content: string;
  /** The folder of the tool's packages. */
  packages?: string | undefined;
  /** Ends before the source is run when required packages are missing: `loaded` then holds no description. */
  isStrict?: boolean | undefined;
  /** Applies the checks for a source that is to be stored. */
  isNew?: boolean | undefined;
  /** The requirements that the folder of packages was made for. */
  installed?: string[] | undefined;
}

/**
 * Starts a process for a tool and loads the tool.
 *
 * A call that times out, and a call that the process does not begin, take the process out of service. The
 * timed-out call is answered, the unbegun call goes to another process, calls beside them may finish, and
 * then the process ends.
 */
export function loadTool(
  host: Host,
  tool: LoadedFrom,
  limits: Limits,
  { onIdle, onEnding, onGone }: ToolProcessHandlers,
): ToolProcess {
  const loading = Promise.withResolvers<Prepared & Loaded>();
  loading.promise.catch(() => {});
  let isLoading = true;
  let isOut = false;
  let ending: AppError | undefined;
  let prepared: Prepared | undefined;
  let strays = NO_STRAYS;
  /** Calls that had begun when the process was ended. */
  const unfinished: PendingCall[] = [];

  /** The process takes no further calls; unsent calls go to other processes. */
  const takeOut = (reason: string, isHarmed: boolean) => {
    if (isOut) return;
    isOut = true;
    onEnding();
    calls.failHeld(new NotBegun(new AppError('tool_raised', { detail: stopped(reason) }), isHarmed));
  };

  /**
   * Ends the process and fails all that waits. `hasSpoken`: all messages of the process were read, so an
   * unbegun call will never begin.
   */
  const end = (code: ErrorCode, reason: string, hasSpoken = false) => {
    if (ending) return;
    const error = new AppError(code, { detail: reason });
    ending = error;
    clearTimeout(loadTimer);
    spawned.kill();
    // Later messages of the process are useless.
    spawned.listen(false);
    loading.reject(error);
    // The calls that waited for the load fail with it.
    if (isLoading) calls.failHeld(error);
    takeOut(reason, false);
    const sharing = calls.size();
    // The responsible call cannot be determined.
    const shared = new AppError('tool_interrupted', {
      detail: `${reason} ${sharing} calls ran in it, and how far this one had come is not known: it was not tried again.`,
    });
    calls.failAll((call) => {
      const { state } = call;
      if (state === 'begun') unfinished.push(call);
      if (hasSpoken && state === 'sent') return new NotBegun(error, true);
      return sharing > 1 ? shared : error;
    });
  };

  /**
   * Ends the process when no caller waits for it, and it is either out of service or still busy with work
   * that only its end can stop.
   */
  const look = () => {
    if (ending || calls.wanted() > 0) return;
    if (isOut) end('tool_raised', stopped('it is no longer needed'));
    else if (isLoading || calls.size() > 0) end('tool_raised', stopped('its only call was cancelled'));
    else onIdle();
  };

  const spawned = host.spawn(tool.packages, {
    onMessage(message, payload, bytes) {
      if (ending) return;
      const { kind } = Object(message);
      if (isStray(kind)) return countStray(bytes);
      if (kind === 'loaded' && bytes > MAX_SAID_BYTES)
        return end('tool_invalid', `The specification ${TOO_LONG}.`);
      receive(ToolMessage.parse(message), payload, bytes);
    },
    onRead: () => questions.goOn(),
    onFault: (reason) => end(isLoading ? 'tool_invalid' : 'tool_raised', stopped(reason)),
  });
  const tell = (message: LoadRequest | Reply) => {
    spawned.send(Buffer.from(JSON.stringify(message)));
    if (spawned.unread() > MAX_UNREAD_BYTES) end('tool_raised', stopped('it did not read what it was sent'));
  };
  const calls = openCalls(limits, {
    send(...parts) {
      spawned.countAnew();
      spawned.send(...parts);
    },
    clock: spawned.clock,
    isUnheard: spawned.isUnheard,
    onHarm: (reason) => takeOut(reason, true),
    onChange: look,
  });
  const questions = openQuestions(limits, {
    send: tell,
    isRead: spawned.isRead,
    listen: (isOn) => spawned.listen(isOn && !ending),
  });
  const tooSlow =
    `The tool did not finish loading within ${limits.loadTimeoutMs / 1000} s. ` +
    'What takes long, such as the import of large packages, belongs into its functions.';
  const loadTimer = setTimeout(() => end('tool_invalid', tooSlow), limits.loadTimeoutMs);
  spawned.connected.then(
    () =>
      tell({
        kind: 'load',
        id: tool.id,
        content: tool.content,
        is_lenient: !tool.isStrict,
        is_new: tool.isNew ?? false,
        installed: tool.installed ?? [],
      }),
    (cause: Error) =>
      end('python_unavailable', `A process for the tool could not be started: ${cause.message}.`),
  );
  spawned.ended.then((how) => {
    const isLost = how.code === null && how.signal === null;
    const ended = describeEnd(how, limits);
    if (isLoading) end('tool_invalid', `The tool ended its process while it was loading: ${ended}.`);
    else if (isLost) end('tool_interrupted', `The process of the tool ended: ${ended}.`);
    else end('tool_raised', `The process of the tool ended: ${ended}.`, true);
    const { usage } = how;
    for (const { options, cpuMs } of unfinished)
      if (usage) options.onUsage?.({ ...usage, cpu_ms: Math.max(0, usage.cpu_ms - cpuMs) });
    onGone();
  });

  /**
   * Whether a message about the load comes after the load is over. The host sends it once and first; a
   * hostile tool may repeat it.
   */
  function isStray(kind: unknown): boolean {
    if (kind === 'prepared') return prepared !== undefined;
    if (kind === 'loaded') return !isLoading || !prepared;
    return kind === 'refused' && !isLoading;
  }

  /** Handles a message of the process. Throws for a message of the wrong form, which ends the process. */
  function receive(message: ToolMessage, payload: Payload | undefined, bytes: number): void {
    switch (message.kind) {
      case 'prepared':
        prepared = Prepared.parse(payload?.parse());
        if (tool.isStrict && prepared.missing.length > 0) {
          loading.resolve({ ...prepared, specs: [], valves: null, user_valves: null });
          end('tool_invalid', 'Packages that the tool asks for are not installed.');
        }
        break;
      case 'refused':
        end('tool_invalid', Refusal.parse(payload?.parse()).detail);
        break;
      case 'loaded': {
        const loaded = Loaded.parse(payload?.parse());
        isLoading = false;
        clearTimeout(loadTimer);
        if (prepared) {
          const warnings = [...prepared.warnings, ...loaded.warnings];
          loading.resolve({ ...loaded, ...prepared, warnings });
        }
        if (!isOut) calls.open();
        look();
        break;
      }
      case 'begun':
        if (!calls.begin(message.call, message.cpu_ms)) countStray(bytes);
        break;
      default: {
        if (!payload) throw new TypeError('This kind of message has a payload.');
        const call = calls.find(message.call);
        if (call) return void hear(call, message, payload, bytes);
        countStray(bytes);
        // Without an answer, a thread that a function left behind would wait for ever.
        if (message.kind === 'ask' || message.kind === 'request') questions.refuse(message);
      }
    }
  }

  /** Handles a message about a call. */
  function hear(
    call: PendingCall,
    message: Extract<ToolMessage, { call: number }>,
    payload: Payload,
    bytes: number,
  ): void {
    switch (message.kind) {
      case 'event':
        if (!count(call, bytes)) break;
        call.events.push(payload.text);
        call.options.onEvent?.(payload.text);
        break;
      case 'ask':
        if (count(call, bytes)) void questions.ask(call, { ...message, event: payload.text });
        break;
      case 'request':
        // Further requests are refused one by one.
        if (call.requests >= MAX_REQUESTS) countStray(bytes);
        questions.request(call, message, payload);
        break;
      case 'result':
        strays = NO_STRAYS;
        calls.settle(call, ({ events, startedAt, options, resolve, reject }) => {
          options.onUsage?.(message.usage);
          if (options.isOfItself && bytes > MAX_SAID_BYTES)
            return reject(
              new AppError('tool_raised', { detail: `What the tool says of its valves ${TOO_LONG}.` }),
            );
          const durationMs = performance.now() - startedAt;
          resolve({ result: payload, events, output: message.output, durationMs });
        });
        break;
      case 'error': {
        const { code, detail, issues } = CallFailure.parse(payload.parse());
        strays = NO_STRAYS;
        const error = new AppError(code, issues.length > 0 ? { detail, issues } : { detail });
        calls.settle(call, () => {
          call.options.onUsage?.(message.usage);
          call.reject(error);
        });
      }
    }
  }

  /**
   * The host counts too, but a tool can write to the channel past the host. Returns false when it was too
   * much.
   */
  function count(call: PendingCall, bytes: number): boolean {
    call.eventBytes += bytes;
    const isWithin = call.events.length + call.asks < MAX_EVENTS && call.eventBytes <= MAX_EVENT_BYTES;
    if (!isWithin) end('tool_raised', stopped('it emitted too many events'));
    return isWithin;
  }

  /**
   * Counts messages that belong to no call: for example events of a thread that a function left running. Each
   * answered call adds the allowance of one call.
   */
  function countStray(bytes: number): void {
    strays = { messages: strays.messages + 1, bytes: strays.bytes + bytes };
    if (strays.messages > MAX_EVENTS || strays.bytes > MAX_EVENT_BYTES)
      end(isLoading ? 'tool_invalid' : 'tool_raised', stopped('it sent too much that belongs to no call'));
  }

  const self: ToolProcess = {
    loaded: loading.promise,
    isEnding: () => isOut,
    isBusy: () => isLoading || calls.size() > 0,
    lastUsedAt: performance.now(),
    stop: () => end('tool_raised', stopped('it is no longer needed')),
    retire() {
      takeOut('it is no longer needed', false);
      look();
    },
    request(order, options) {
      if (isOut) throw new NotBegun(ending ?? new AppError('tool_raised'), false);
      self.lastUsedAt = performance.now();
      return calls.add(order, options);
    },
  };
  return self;
}
