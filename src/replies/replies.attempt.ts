import { recheckRight } from '../auth/watch.ts';
import type { Author } from '../channelbase/channels.brief.schema.ts';
import { authorOf } from '../channelbase/channels.changes.ts';
import { complete } from '../completions/completions.service.ts';
import type { CompletionEvent, PersonQuestion } from '../completions/completions.types.ts';
import { ReasoningSplitter, type SplitText } from '../completions/reasoning.ts';
import { untilStart } from '../completions/starts.ts';
import { AppError } from '../core/errors.ts';
import { outageIn } from '../core/outage.ts';
import type { Actor, Parts, Scope } from '../core/scope.ts';
import { type ResolvedModel, requireStillUsable, resolveModel } from '../models/models.resolve.ts';
import { ImageRoom } from './context/context.room.ts';
import { type Context, readContext } from './context/context.service.ts';
import { NamePrefix } from './growing/growing.prefix.ts';
import { GrowingReply, type ReplyDelta } from './growing/growing.reply.ts';
import { askPerson } from './questions/questions.asked.ts';
import { actorOf } from './replies.end.ts';
import { REPLY_LIMIT_MS } from './replies.job.ts';
import { type OpenReply, saveReply } from './replies.repository.ts';
import type { RunningReply } from './replies.running.ts';
import { openReplyScope } from './replies.scope.ts';

/** The last event of a turn. */
export type TurnEnd = Extract<CompletionEvent, { type: 'end' }>;

/**
 * Why an attempt was ended from outside: a person stopped it; there is nothing left to write to; the server
 * stops.
 */
export type Cut = 'stopped' | 'dropped' | 'interrupted';

class CutError extends Error {
  readonly cut: Cut;

  constructor(cut: Cut) {
    super(`The reply was ${cut}.`);
    this.cut = cut;
  }
}

/** What an attempt has written, and how it ended. */
export interface Written {
  growing: GrowingReply;
  /** Null if the model was not called. */
  scope: Scope | null;
  model: ResolvedModel | null;
  /** The name of the connection that answered last. */
  connection: string | null;
  context: Context | null;
  end: TurnEnd | null;
  /** Null for a turn that ended by itself. */
  cut: Cut | null;
  failure: AppError | null;
}

/** One attempt to write a reply, as the person who called the model. */
export class Attempt implements RunningReply {
  readonly channelId: string;
  readonly messageId: string;
  readonly #parts: Parts;
  readonly #reply: OpenReply;
  readonly #ending = new AbortController();
  readonly #written: Written;
  readonly #images: ImageRoom;
  #splitter: ReasoningSplitter | undefined;
  #prefix: NamePrefix | undefined;
  /** The number of calls of tools when text came last. */
  #callsAtText = 0;

  constructor(parts: Parts, reply: OpenReply) {
    this.channelId = reply.channel_id;
    this.messageId = reply.message_id;
    this.#parts = parts;
    this.#reply = reply;
    this.#images = new ImageRoom(reply.user_id);
    const growing = new GrowingReply({
      notify: (delta) => this.#notify(delta),
      save: (content, data) => this.#save(content, data),
    });
    const nothing = {
      scope: null,
      model: null,
      connection: null,
      context: null,
      end: null,
      cut: null,
      failure: null,
    };
    this.#written = { growing, ...nothing };
  }

  readonly actorOf = (): Actor | null => this.#written.scope?.actor ?? null;
  readonly uses = (modelId: string): boolean => this.#written.model?.path.includes(modelId) ?? true;
  readonly stop = (): void => this.#ending.abort(new CutError('stopped'));
  readonly drop = (): void => this.#ending.abort(new CutError('dropped'));
  readonly recheck = (): void => {
    const end = (failure: AppError) => this.#ending.abort(failure);
    void recheckRight(() => this.#check(), { end, signal: this.#ending.signal });
  };

  async #check(): Promise<void> {
    const scope = await openReplyScope(this.#parts, this.#reply, this.#ending.signal);
    const { model } = this.#written;
    if (model) await requireStillUsable(scope, model);
  }

  /**
   * Calls the model, and tells clients what it writes.
   *
   * @param signal fires when the server stops
   * @throws an outage of the database, if nothing was written before it
   */
  async run(signal: AbortSignal): Promise<Written> {
    const interrupt = () => this.#ending.abort(new CutError('interrupted'));
    signal.addEventListener('abort', interrupt, { once: true });
    if (signal.aborted) interrupt();
    const limit = setTimeout(() => this.#ending.abort(new AppError('reply_timeout')), REPLY_LIMIT_MS);
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    this.#ending.signal.addEventListener('abort', () => ended.reject(this.#ending.signal.reason));
    if (this.#ending.signal.aborted) ended.reject(this.#ending.signal.reason);
    try {
      await Promise.race([this.#write(), ended.promise]);
    } catch (error) {
      this.#noteFailure(this.#ending.signal.aborted ? this.#ending.signal.reason : error);
      this.#keepRest();
    } finally {
      clearTimeout(limit);
      signal.removeEventListener('abort', interrupt);
      await this.#written.growing.close();
      // Ends everything that still runs for this attempt.
      this.drop();
      this.#images.release();
    }
    return this.#written;
  }

  async #write(): Promise<void> {
    const { channel_id: channelId, called_by: calledBy, message_id, model_id, user_timezone } = this.#reply;
    const { signal } = this.#ending;
    await untilStart();
    const scope = await openReplyScope(this.#parts, this.#reply, signal);
    this.#written.scope = scope;
    const model = await resolveModel(scope, model_id);
    this.#written.model = model;
    this.#prefix = new NamePrefix([model.name, model.id, scope.actor.name]);
    const context = await readContext(scope, model, { channelId, calledBy, room: this.#images });
    this.#written.context = context;
    const turn = complete(scope, {
      model,
      messages: context.messages,
      context: {
        kind: 'channel',
        chat_id: `channel:${channelId}`,
        message_id,
        metadata: { channel_id: channelId, called_by: calledBy },
        files: context.files,
      },
      onAnswer: (connection) => {
        this.#written.connection = connection;
      },
      ...(user_timezone && { timeZone: user_timezone }),
      onAsk: (question) => this.#ask(model.name, question),
      signal,
    });
    for await (const event of turn) {
      if (signal.aborted) return;
      this.#take(event);
    }
  }

  #take(event: CompletionEvent): void {
    if (event.type === 'chunk') {
      this.#takeDelta(event.chunk.choices?.[0]?.delta ?? {});
      return;
    }
    this.#endAnswer();
    this.#add({ text: this.#prefix?.end() ?? '', reasoning: '' });
    if (event.type === 'tool') this.#written.growing.noteCall(event.call);
    else this.#written.end = event;
  }

  #takeDelta({ content, reasoning_content, reasoning = reasoning_content }: Delta): void {
    if (typeof reasoning === 'string') this.#add({ text: '', reasoning });
    if (!content) return;
    this.#splitter ??= new ReasoningSplitter();
    this.#addAnswer(this.#splitter.push(content));
  }

  #addAnswer({ text, reasoning }: SplitText): void {
    this.#add({ text: text === '' ? '' : (this.#prefix?.push(text) ?? text), reasoning });
  }

  /** Each answer of a turn has its own thoughts. */
  #endAnswer(): void {
    if (this.#splitter) this.#addAnswer(this.#splitter.end());
    this.#splitter = undefined;
  }

  /** Text that is held back at a failure. */
  #keepRest(): void {
    const { text = '', reasoning = '' } = this.#splitter?.end() ?? {};
    const rest = this.#prefix ? this.#prefix.push(text) + this.#prefix.end() : text;
    this.#written.growing.add({ text: rest, reasoning });
  }

  #add({ text, reasoning }: SplitText): void {
    const { growing } = this.#written;
    const said = growing.text.text;
    // The text after calls of tools begins a paragraph.
    const isNext = text !== '' && said !== '' && this.#callsAtText < growing.calls.length;
    if (text !== '') this.#callsAtText = growing.calls.length;
    const apart = isNext && !/\s$/.test(said) ? `\n\n${text.trimStart()}` : text;
    if (!growing.add({ text: apart, reasoning })) throw new AppError('reply_too_long');
  }

  #noteFailure(reason: unknown): void {
    const written = this.#written;
    if (reason instanceof CutError) written.cut = reason.cut;
    else if (reason instanceof AppError) written.failure = reason;
    else if (outageIn(reason) !== undefined && written.growing.isEmpty) throw reason;
    else {
      this.#parts.log.error({ err: reason, message: this.messageId }, 'A reply of a model failed.');
      written.failure = new AppError('internal');
    }
  }

  get #author(): Author {
    return authorOf(this.#written.scope?.actor ?? actorOf(this.#reply));
  }

  #notify(delta: ReplyDelta): void {
    this.#parts.bus.publish('channel.notice', {
      to: { channelId: this.channelId },
      notice: {
        channel_id: this.channelId,
        message_id: this.messageId,
        data: { type: 'message:delta', data: { ...delta } },
        user: this.#author,
      },
    });
  }

  #ask(modelName: string, question: PersonQuestion): Promise<unknown> {
    const person = this.#author;
    return askPerson({ parts: this.#parts, reply: this.#reply, modelName, person }, question);
  }

  async #save(content: string, data: Record<string, unknown>): Promise<void> {
    const { channelId, messageId } = this;
    const key = { channelId, messageId, attempt: this.#reply.attempt };
    const saved = await saveReply(this.#parts.sql, { ...key, content, data });
    if (!saved) this.drop();
    else if (saved.stop_requested) this.stop();
  }
}

/** Members of a delta that OpenAI does not have. */
interface Delta {
  content?: string | null;
  reasoning_content?: unknown;
  reasoning?: unknown;
}
