import { z } from 'zod';
import { modelId, serverTools } from '../openai/openai.schema.ts';

/** Anthropic's Messages, as far as the server reads them; other members are dropped, because no other provider knows them. */

const Text = z.looseObject({ type: z.literal('text'), text: z.string() });

const Image = z.looseObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: z.string(),
    }),
    z.looseObject({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) }),
  ]),
});

const Document = z.looseObject({
  type: z.literal('document'),
  title: z.string().nullish(),
  source: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('text'), data: z.string() }),
    z.looseObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: z.string() }),
    z.looseObject({
      type: z.literal('content'),
      content: z.union([z.string(), z.array(z.discriminatedUnion('type', [Text, Image]))]),
    }),
  ]),
});

const SearchResult = z.looseObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(Text),
});

const ToolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
});

/** What a person or a tool says. */
const Said = z
  .discriminatedUnion('type', [Text, Image, Document, SearchResult])
  .meta({ id: 'MessagesContent', description: 'A block that a person or a tool says' });
export type Said = z.output<typeof Said>;

const ToolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(Said)]).nullish(),
  is_error: z.boolean().nullish(),
});
export type ToolResult = z.output<typeof ToolResult>;

/** Reasoning of earlier answers: other providers do not take it. */
const Thinking = z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) });

const Block = z
  .discriminatedUnion('type', [Text, Image, Document, SearchResult, ToolUse, ToolResult, Thinking])
  .meta({ id: 'MessagesBlock', description: 'A block of a message in the shape of Anthropic' });
export type Block = z.output<typeof Block>;

const Message = z
  .looseObject({
    role: z.enum(['user', 'assistant', 'system']),
    content: z.union([z.string(), z.array(Block)]),
  })
  .meta({ id: 'MessagesMessage', description: 'A message in the shape of Anthropic' });
export type Message = z.output<typeof Message>;

const Tool = z.looseObject({
  type: z.literal('custom', 'must be "custom": the tools of Anthropic run on its own servers').nullish(),
  name: z.string().min(1),
  description: z.string().nullish(),
  input_schema: z.looseObject({}),
  strict: z.boolean().nullish(),
});

const members = {
  model: modelId(),
  messages: z
    .array(Message)
    .min(1)
    .meta({ examples: [[{ role: 'user', content: 'Hello' }]] }),
  system: z.union([z.string(), z.array(Text)]).nullish(),
  tools: z.array(Tool).nullish(),
};

/** The body of `POST /messages/count_tokens`. */
export const CountBody = z
  .looseObject(members)
  .meta({ id: 'CountTokensRequest', description: 'Messages in the shape of Anthropic' });
export type CountBody = z.output<typeof CountBody>;

/** The body of `POST /messages`. */
export const MessagesBody = z
  .looseObject({
    ...members,
    max_tokens: z
      .int()
      .min(1)
      .nullish()
      .meta({ examples: [256] }),
    stop_sequences: z.array(z.string()).nullish(),
    stream: z.boolean().nullish(),
    temperature: z.number().nullish(),
    top_p: z.number().nullish(),
    top_k: z.int().nullish(),
    thinking: z.looseObject({ type: z.string() }).nullish(),
    tool_choice: z
      .looseObject({
        type: z.enum(['auto', 'any', 'tool', 'none']),
        name: z.string().nullish(),
        disable_parallel_tool_use: z.boolean().nullish(),
      })
      .refine(({ type, name }) => type !== 'tool' || name, { path: ['name'], error: 'must name a tool' })
      .nullish(),
    output_config: z
      .looseObject({
        format: z.looseObject({ type: z.literal('json_schema'), schema: z.looseObject({}) }).nullish(),
      })
      .nullish(),
    tool_ids: serverTools(),
  })
  .meta({ id: 'MessagesRequest', description: 'A request in the shape of Anthropic' });
export type MessagesBody = z.output<typeof MessagesBody>;
