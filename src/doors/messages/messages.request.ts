import type { ChatMessage } from '../../providers/providers.types.ts';
import type { Block, CountBody, Message, MessagesBody, Said, ToolResult } from './messages.schema.ts';

type Part =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { filename: string; file_data: string } };

/**
 * The messages of a request in OpenAI's shape, the system prompt first. Most models take system messages at the beginning alone, and
 * many only turns that alternate: later system messages become text of the person, and messages of the person in succession one.
 */
export function toChatMessages({ system, messages }: Pick<CountBody, 'system' | 'messages'>): ChatMessage[] {
  const turns = messages.findIndex(({ role }) => role !== 'system');
  const leading = turns === -1 ? messages : messages.slice(0, turns);
  const prompts = [system ?? '', ...leading.map(({ content }) => content)].map(promptOf);
  const prompt = prompts.filter((text) => text !== '').join('\n\n');
  return [
    ...(prompt === '' ? [] : [{ role: 'system' as const, content: prompt }]),
    ...messages.slice(leading.length).flatMap(toMessages).reduce(joinTurns, []),
  ];
}

const promptOf = (content: Message['content']): string =>
  typeof content === 'string'
    ? content
    : textOf(content.flatMap((block) => (isSaid(block) ? toParts(block) : [])));

function joinTurns(joined: ChatMessage[], message: ChatMessage): ChatMessage[] {
  const last = joined.at(-1);
  if (last?.role !== 'user' || message.role !== 'user') joined.push(message);
  else last.content = simplest([...partsOf(last.content), ...partsOf(message.content)]);
  return joined;
}

const partsOf = (content: ChatMessage['content']): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Part[]);

function toMessages({ role, content }: Message): ChatMessage[] {
  const blocks: Block[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (role === 'assistant') return [fromAssistant(blocks)];
  const parts = blocks.flatMap((block) => (isSaid(block) ? toParts(block) : []));
  if (role === 'system') return [{ role: 'user', content: `<system>\n${textOf(parts)}\n</system>` }];
  const results = blocks.filter((block) => block.type === 'tool_result') as ToolResult[];
  // Results stand first, right behind their calls, and have only text: their images follow as the person's.
  const images = results.flatMap(({ content: of }) =>
    typeof of === 'string' ? [] : (of ?? []).flatMap(toParts).filter(({ type }) => type !== 'text'),
  );
  const said = [...images, ...parts];
  return [
    ...results.map(fromResult),
    ...(said.length > 0 ? [{ role: 'user', content: simplest(said) } as ChatMessage] : []),
  ];
}

function fromAssistant(blocks: Block[]): ChatMessage {
  const text = textOf(blocks.flatMap((block) => (block.type === 'text' ? toParts(block) : [])));
  const tool_calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: block.id,
            type: 'function' as const,
            function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) },
          },
        ]
      : [],
  );
  return tool_calls.length > 0
    ? { role: 'assistant', content: text === '' ? null : text, tool_calls }
    : { role: 'assistant', content: text };
}

function fromResult({ tool_use_id, content, is_error }: ToolResult): ChatMessage {
  const text = typeof content === 'string' ? content : textOf((content ?? []).flatMap(toParts));
  return { role: 'tool', tool_call_id: tool_use_id, content: is_error ? `Error: ${text}` : text };
}

const isSaid = (block: Block): block is Said =>
  ['text', 'image', 'document', 'search_result'].includes(block.type);

function toParts(block: Said): Part[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: imageUrl(block.source) } }];
    case 'search_result':
      return [
        {
          type: 'text',
          text: [block.title, block.source, ...block.content.map(({ text }) => text)].join('\n'),
        },
      ];
    case 'document':
      return fromDocument(block);
  }
}

function fromDocument({ title, source }: Extract<Said, { type: 'document' }>): Part[] {
  const heading: Part[] = title ? [{ type: 'text', text: title }] : [];
  if (source.type === 'text') return [...heading, { type: 'text', text: source.data }];
  if (source.type === 'base64') {
    const file_data = `data:application/pdf;base64,${source.data}`;
    return [{ type: 'file', file: { filename: title || 'document.pdf', file_data } }];
  }
  const content: Said[] =
    typeof source.content === 'string' ? [{ type: 'text', text: source.content }] : source.content;
  return [...heading, ...content.flatMap(toParts)];
}

/** An address is passed on: the server calls no address that a caller names. */
const imageUrl = (source: Extract<Said, { type: 'image' }>['source']): string =>
  source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;

const textOf = (parts: Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');

/** A text where it is one: not every provider takes lists of parts. */
const simplest = (parts: Part[]) => (parts.every(({ type }) => type === 'text') ? textOf(parts) : parts);

const CHOICES = { auto: 'auto', any: 'required', none: 'none' } as const;

/** The other members of the request in OpenAI's shape. */
export function toParams(body: MessagesBody): Record<string, unknown> {
  const { tools, tool_choice: choice, output_config: output, stop_sequences: stop } = body;
  const { max_tokens, temperature, top_p, top_k } = body;
  const params = {
    max_tokens,
    temperature,
    top_p,
    top_k,
    stop: stop?.length ? stop : undefined,
    tools: tools?.length ? toTools(tools) : undefined,
    tool_choice: choice && tools?.length ? toChoice(choice) : undefined,
    parallel_tool_calls: choice?.disable_parallel_tool_use && tools?.length ? false : undefined,
    response_format: output?.format && {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: output.format.schema, strict: true },
    },
  };
  return Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined && value !== null),
  );
}

const toChoice = ({ type, name }: NonNullable<MessagesBody['tool_choice']>) =>
  type === 'tool' ? { type: 'function', function: { name } } : CHOICES[type];

const toTools = (tools: NonNullable<CountBody['tools']>) =>
  tools.map(({ name, description, input_schema, strict }) => ({
    type: 'function',
    function: {
      name,
      ...(description && { description }),
      parameters: input_schema,
      ...(typeof strict === 'boolean' && { strict }),
    },
  }));
