import { AppError, type ErrorCode } from '../../core/errors.ts';
import type { Payload } from '../channel.ts';
import type { Ended, SpawnedProcess } from '../host.spawned.ts';
import type { Host } from '../host.ts';
import { type Limits, MAX_SAID_BYTES, MAX_UNREAD_BYTES } from '../limits.ts';
import { Loaded, type LoadRequest, Prepared, Refusal, type Reply, ToolMessage } from '../protocol.ts';
import { type Asked, type CallOptions, NotBegun, type Order, type PendingCall } from './call.ts';
import { Calls } from './calls.ts';
import { describeEnd, stopped } from './endings.ts';
import { ToolLoad } from './process.load.ts';
import { TOO_LONG, ToolMessages } from './process.messages.ts';
import { Questions } from './questions.ts';

export interface ToolProcessHandlers {
  /** The process is idle. */
  onIdle(): void;
  /** The process takes no further calls. */
  onEnding(): void;
  /** The process has ended, with all processes that it started. */
  onGone(): void;
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
 * A tool that runs in its own process. The constructor starts the process and loads the tool.
 *
 * The process takes calls until it is out of service. A call that times out, and a call that the process does
 * not begin, take it out of service. The timed-out call is answered, the unbegun call goes to another process,
 * calls beside them may finish, and then the process ends.
 */
export class ToolProcess {
  /** Rejects with tool_invalid or python_unavailable. */
  readonly loaded: Promise<Prepared & Loaded>;
  /** `performance.now()` of the latest call. */
  lastUsedAt = performance.now();
  readonly #limits: Limits;
  readonly #handlers: ToolProcessHandlers;
  readonly #isStrict: boolean;
  readonly #load: ToolLoad;
  readonly #process: SpawnedProcess;
  readonly #calls: Calls;
  readonly #questions: Questions;
  readonly #messages: ToolMessages;
  #isOutOfService = false;
  /** The reason of the end; set when the process is told to end, or has ended. */
  #ending: AppError | undefined;
  /** Calls that had begun when the process was ended. */
  readonly #unfinished: PendingCall[] = [];

  constructor(host: Host, tool: LoadedFrom, limits: Limits, handlers: ToolProcessHandlers) {
    this.#limits = limits;
    this.#handlers = handlers;
    this.#isStrict = tool.isStrict ?? false;
    this.#load = new ToolLoad(limits, (reason) => this.#end('tool_invalid', reason));
    this.loaded = this.#load.outcome;
    const spawned = host.spawn(tool.packages, {
      onMessage: (message, payload, bytes) => this.#take(message, payload, bytes),
      onRead: () => this.#questions.goOn(),
      onFault: (reason) => this.#stopFor(reason),
    });
    this.#process = spawned;
    this.#calls = new Calls(limits, {
      send(...parts) {
        spawned.countAnew();
        spawned.send(...parts);
      },
      clock: () => spawned.clock(),
      isUnheard: () => spawned.isUnheard(),
      onHarm: (reason) => this.#takeOut(reason, true),
      onChange: () => this.#look(),
    });
    this.#questions = new Questions(limits, {
      send: (reply) => this.#tell(reply),
      isRead: () => spawned.isRead(),
      listen: (isOn) => spawned.listen(isOn && !this.#ending),
    });
    this.#messages = new ToolMessages(this.#calls, this.#questions, (reason) => this.#stopFor(reason));
    spawned.connected.then(
      () => this.#tell(loadRequestOf(tool)),
      (cause: Error) =>
        this.#end('python_unavailable', `A process for the tool could not be started: ${cause.message}.`),
    );
    spawned.ended.then((how) => this.#reportEnd(how));
  }

  /** True from the first reason to end: the process takes no further calls. */
  isEnding(): boolean {
    return this.#isOutOfService;
  }

  /** True while it loads or answers calls. */
  isBusy(): boolean {
    return this.#load.isUnderWay() || this.#calls.size() > 0;
  }

  /** Sends one request; waits for the load while that is under way. @throws NotBegun */
  request(order: Order, options: CallOptions): Asked {
    if (this.#isOutOfService) throw new NotBegun(this.#ending ?? new AppError('tool_raised'), false);
    this.lastUsedAt = performance.now();
    return this.#calls.add(order, options);
  }

  /** Ends the process at once; calls under way fail. */
  stop(): void {
    this.#end('tool_raised', stopped('it is no longer needed'));
  }

  /** Ends the process as soon as it is idle. */
  retire(): void {
    this.#takeOut('it is no longer needed', false);
    this.#look();
  }

  #tell(message: LoadRequest | Reply): void {
    this.#process.send(Buffer.from(JSON.stringify(message)));
    if (this.#process.unread() > MAX_UNREAD_BYTES)
      this.#end('tool_raised', stopped('it did not read what it was sent'));
  }

  /** The process takes no further calls; unsent calls go to other processes. */
  #takeOut(reason: string, isHarmed: boolean): void {
    if (this.#isOutOfService) return;
    this.#isOutOfService = true;
    this.#handlers.onEnding();
    this.#calls.failHeld(new NotBegun(new AppError('tool_raised', { detail: stopped(reason) }), isHarmed));
  }

  /** Ends a process that violates the protocol. */
  #stopFor(reason: string): void {
    this.#end(this.#load.isUnderWay() ? 'tool_invalid' : 'tool_raised', stopped(reason));
  }

  /**
   * Ends the process and fails all that waits. `hasSpoken`: all messages of the process were read, so an
   * unbegun call will never begin.
   */
  #end(code: ErrorCode, reason: string, hasSpoken = false): void {
    if (this.#ending) return;
    const error = new AppError(code, { detail: reason });
    this.#ending = error;
    this.#process.kill();
    // Later messages of the process are useless.
    this.#process.listen(false);
    this.#load.fail(error);
    // The calls that waited for the load fail with it.
    if (this.#load.isUnderWay()) this.#calls.failHeld(error);
    this.#takeOut(reason, false);
    const sharing = this.#calls.size();
    // The responsible call cannot be determined.
    const shared = new AppError('tool_interrupted', {
      detail: `${reason} ${sharing} calls ran in it, and how far this one had come is not known: it was not tried again.`,
    });
    this.#calls.failAll((call) => {
      const { state } = call;
      if (state === 'begun') this.#unfinished.push(call);
      if (hasSpoken && state === 'sent') return new NotBegun(error, true);
      return sharing > 1 ? shared : error;
    });
  }

  /**
   * Ends the process when no caller waits for it, and it is either out of service or still busy with work
   * that only its end can stop.
   */
  #look(): void {
    if (this.#ending || this.#calls.wanted() > 0) return;
    if (this.#isOutOfService) this.#end('tool_raised', stopped('it is no longer needed'));
    else if (this.isBusy()) this.#end('tool_raised', stopped('its only call was cancelled'));
    else this.#handlers.onIdle();
  }

  /** The process has ended, by itself or because it was ended. */
  #reportEnd(how: Ended): void {
    const isLost = how.code === null && how.signal === null;
    const ended = describeEnd(how, this.#limits);
    // The end of the host is no fault of a source that was loading.
    if (this.#load.isUnderWay() && isLost)
      this.#end('python_unavailable', `The tool could not be loaded: ${ended}.`);
    else if (this.#load.isUnderWay())
      this.#end('tool_invalid', `The tool ended its process while it was loading: ${ended}.`);
    else if (isLost) this.#end('tool_interrupted', `The process of the tool ended: ${ended}.`);
    else this.#end('tool_raised', `The process of the tool ended: ${ended}.`, true);
    const { usage } = how;
    for (const { options, cpuMs } of this.#unfinished)
      if (usage) options.onUsage?.({ ...usage, cpu_ms: Math.max(0, usage.cpu_ms - cpuMs) });
    this.#handlers.onGone();
  }

  /** Handles a message of the process. Throws for a message of the wrong form, which ends the process. */
  #take(untrusted: unknown, payload: Payload | undefined, bytes: number): void {
    if (this.#ending) return;
    const { kind } = Object(untrusted);
    if (this.#load.isStray(kind)) return void this.#messages.countStray(bytes);
    if (kind === 'loaded' && bytes > MAX_SAID_BYTES)
      return void this.#end('tool_invalid', `The specification ${TOO_LONG}.`);
    const message = ToolMessage.parse(untrusted);
    switch (message.kind) {
      case 'prepared':
        this.#prepare(Prepared.parse(payload?.parse()));
        break;
      case 'refused':
        this.#end('tool_invalid', Refusal.parse(payload?.parse()).detail);
        break;
      case 'loaded':
        this.#serve(Loaded.parse(payload?.parse()));
        break;
      default:
        this.#messages.take(message, payload, bytes);
    }
  }

  /** The process has read the source, and has not run it. */
  #prepare(prepared: Prepared): void {
    this.#load.prepare(prepared);
    if (!this.#isStrict || prepared.missing.length === 0) return;
    this.#load.endBeforeRun(prepared);
    this.#end('tool_invalid', 'Packages that the tool asks for are not installed.');
  }

  /** The process has loaded the tool: calls can begin. */
  #serve(loaded: Loaded): void {
    this.#load.finish(loaded);
    if (!this.#isOutOfService) this.#calls.open();
    this.#look();
  }
}

function loadRequestOf({ id, content, isStrict, isNew, installed }: LoadedFrom): LoadRequest {
  return {
    kind: 'load',
    id,
    content,
    is_lenient: !isStrict,
    is_new: isNew ?? false,
    installed: installed ?? [],
  };
}
