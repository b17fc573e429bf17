import type { Message } from '@parley/client';

/** What the server tells of a reply of a model, in `data` and `meta` of its message (docs/models.md). */
export interface Reply {
  reasoning: string;
  toolCalls: ToolCall[];
  error: { code: string; message: string } | null;
  isStopped: boolean;
  /** How much of the conversation the model did not get. */
  leftOut: { messages: number; images: number; files: number };
  /** False: the model cannot call functions, so it did not get its tools. */
  hasTools: boolean;
  usage: Usage | null;
}

export interface Usage {
  promptTokens: number;
  cachedTokens: number;
  completionTokens: number;
  totalTokens: number;
  firstTokenMs: number | null;
  totalMs: number | null;
  finishReason: string;
}

export interface ToolCall {
  id: string;
  toolId: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  status: 'running' | 'done' | 'failed';
  /** The tool has asked the person who called the model. */
  awaitsAnswer: boolean;
  statuses: string[];
  result: string | null;
  durationMs: number | null;
  files: { id: string; name: string }[];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const object = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

export const isOfModel = ({ meta }: Pick<Message, 'meta'>): boolean => typeof meta.model_id === 'string';

export function replyOf({ data, meta }: Pick<Message, 'data' | 'meta'>): Reply {
  const context = object(meta.context);
  return {
    reasoning: text(data.reasoning),
    toolCalls: list(data.tool_calls).filter(isObject).map(toolCallOf),
    error: isObject(meta.error) ? { code: text(meta.error.code), message: text(meta.error.message) } : null,
    isStopped: meta.stopped === true,
    leftOut: {
      messages: number(context.messages_left_out),
      images: number(context.images_left_out),
      files: number(context.files_left_out),
    },
    hasTools: meta.tools_offered !== false,
    usage: usageOf(meta),
  };
}

function toolCallOf(call: Record<string, unknown>): ToolCall {
  const { status } = call;
  return {
    id: text(call.id),
    toolId: text(call.tool_id),
    name: text(call.name),
    arguments: text(call.arguments),
    status: status === 'done' || status === 'failed' ? status : 'running',
    awaitsAnswer: call.awaits_answer === true,
    statuses: list(call.statuses).map(text),
    result: typeof call.result === 'string' ? call.result : null,
    durationMs: numberOrNull(call.duration_ms),
    files: list(call.files)
      .filter(isObject)
      .map((file) => ({ id: text(file.id), name: text(file.name) || text(file.filename) || text(file.id) })),
  };
}

function usageOf(meta: Record<string, unknown>): Usage | null {
  if (!isObject(meta.usage) && typeof meta.total_ms !== 'number') return null;
  const usage = object(meta.usage);
  return {
    promptTokens: number(usage.prompt_tokens),
    cachedTokens: number(usage.cached_tokens),
    completionTokens: number(usage.completion_tokens),
    totalTokens: number(usage.total_tokens),
    firstTokenMs: numberOrNull(meta.first_token_ms),
    totalMs: numberOrNull(meta.total_ms),
    finishReason: text(meta.finish_reason),
  };
}

/** Names of the models that the text mentions and the author could not call. */
export const notCalled = ({ meta }: Pick<Message, 'meta'>): string[] =>
  list(meta.mentions)
    .filter(isObject)
    .filter(({ resolved }) => resolved === false)
    .map(({ model_id }) => text(model_id));

/** `320ms`, `1.2s`, `2m 5s` in the language of the page. */
export function durationOf(ms: number, language: string): string {
  const of = (value: number, unit: 'millisecond' | 'second' | 'minute', maximumFractionDigits: number) =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit,
      unitDisplay: 'narrow',
      maximumFractionDigits,
    }).format(value);
  if (ms < 1000) return of(ms, 'millisecond', 0);
  const seconds = ms / 1000;
  if (seconds < 60) return of(seconds, 'second', seconds < 10 ? 1 : 0);
  return `${of(Math.floor(seconds / 60), 'minute', 0)} ${of(Math.round(seconds % 60), 'second', 0)}`;
}
