import { toUsage } from '../../completions/completions.account.ts';
import type { CompletionEvent, ToolCallRecord } from '../../completions/completions.types.ts';
import { isObject } from '../../core/json/json.ts';
import type { ChatChunk } from '../../providers/providers.types.ts';
import { createChoices, newHead } from './openai.chunks.ts';

type Members = Record<string, unknown>;

/** Texts that come whole, and may come again. */
const WHOLE = new Set(['role', 'id', 'type', 'name']);

/**
 * Adds a delta to what came before: texts and lists grow, elements with an `index` (calls of tools) grow each for itself, and other values
 * replace. So members that only some providers have (`reasoning_content`, `annotations`) are whole as well.
 */
function addDelta(target: Members, delta: Members): void {
  for (const [name, value] of Object.entries(delta)) {
    if (value === null || value === undefined || name === '__proto__') continue;
    const before = target[name];
    if (typeof before === 'string' && typeof value === 'string') {
      target[name] = WHOLE.has(name) ? before || value : before + value;
    } else if (Array.isArray(value)) target[name] = addElements(Array.isArray(before) ? before : [], value);
    else if (isObject(before) && isObject(value)) addDelta(before, value);
    else target[name] = isObject(value) ? copyOf(value) : value;
  }
}

/** The elements of each list that have an `index`, by it: a search of the list for each would take time in proportion to its square. */
const indexed = new WeakMap<unknown[], Map<unknown, Members>>();

function addElements(target: unknown[], elements: unknown[]): unknown[] {
  const byIndex = indexed.get(target) ?? new Map<unknown, Members>();
  indexed.set(target, byIndex);
  for (const element of elements) {
    const before = isObject(element) ? byIndex.get(element.index) : undefined;
    if (before) addDelta(before, element as Members);
    else {
      const added = isObject(element) ? copyOf(element) : element;
      if (isObject(added) && added.index !== undefined) byIndex.set(added.index, added);
      target.push(added);
    }
  }
  return target;
}

function copyOf(delta: Members): Members {
  const copy: Members = {};
  addDelta(copy, delta);
  return copy;
}

/** A `chat.completion`; members that only some providers have are in `message` and in the choices. */
export interface Completion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: { index: number; message: Members; finish_reason: string | null; stop_reason?: unknown }[];
  usage?: ReturnType<typeof toUsage>;
  parley?: object;
}

interface Collected {
  message: Members;
  logprobs: Members;
}

/** Collects the events of a turn into one `chat.completion`. */
export async function collectCompletion(
  model: string,
  events: AsyncIterable<CompletionEvent>,
): Promise<Completion> {
  const { id, created } = newHead(model);
  const choices = createChoices();
  const collected = new Map<number, Collected>();
  const toolCalls = new Set<ToolCallRecord>();
  const head: Members = {};
  const of = (index: number) => {
    const one = collected.get(index) ?? { message: { role: 'assistant', content: null }, logprobs: {} };
    collected.set(index, one);
    return one;
  };

  for await (const event of events) {
    if (event.type === 'chunk') {
      const { system_fingerprint, service_tier } = event.chunk;
      if (system_fingerprint) head.system_fingerprint = system_fingerprint;
      if (service_tier) head.service_tier = service_tier;
      for (const choice of choices.of(event.chunk) ?? []) add(of(choice.index), choice);
    } else if (event.type === 'tool') {
      toolCalls.add(event.call);
    } else {
      const all = choices.ends(event).map((last) => {
        const { delta, ...choice } = last;
        add(of(choice.index), last);
        const { message, logprobs } = of(choice.index);
        const hasLogprobs = Object.keys(logprobs).length > 0;
        return { ...choice, message: finishMessage(message), logprobs: hasLogprobs ? logprobs : null };
      });
      return {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: all,
        ...(event.usage && { usage: toUsage(event.usage) }),
        ...head,
        ...parleyMember(toolCalls, event.tools_offered),
      };
    }
  }
  throw new Error('The turn has no end.');
}

/** What the server did beside the answer; nothing when it did nothing. */
function parleyMember(calls: ReadonlySet<ToolCallRecord>, toolsOffered: boolean): { parley?: object } {
  const parley = {
    ...(calls.size > 0 && { tool_calls: [...calls] }),
    ...(!toolsOffered && { tools_offered: false }),
  };
  return Object.keys(parley).length > 0 ? { parley } : {};
}

function add(
  { message, logprobs }: Collected,
  { delta, logprobs: more }: ChatChunk['choices'][number],
): void {
  addDelta(message, delta as Members);
  if (more) addDelta(logprobs, more as unknown as Members);
}

/** The calls of a message have no indexes, and `content` is a text unless there are calls. */
function finishMessage({ tool_calls, content, ...message }: Members): Members {
  const all = { refusal: null, ...message };
  if (!Array.isArray(tool_calls)) return { ...all, content: content ?? '' };
  return { ...all, content, tool_calls: tool_calls.map(({ index, ...call }) => call) };
}
