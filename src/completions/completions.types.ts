import type { ResolvedModel } from '../models/models.resolve.ts';
import type { ChatChunk, ChatMessage } from '../providers/providers.types.ts';

/** One turn of a model: the same engine answers in channels and at the OpenAI and Messages doors. */
export interface CompletionRequest {
  /** From `resolveModel`, so that the caller's right is checked. */
  model: ResolvedModel;
  messages: ChatMessage[];
  /** Further members of an OpenAI request (`temperature`, `tools`, `response_format` …); they win over those of the model. */
  params?: Record<string, unknown>;
  /**
   * Tools that the server offers and runs, as the caller; those that the record of the model names unless given, and none of these where
   * `params` has `tools`. `tools` in `params` are the caller's own: a call of one ends the turn.
   */
  toolIds?: readonly string[];
  /** For the tools (`__chat_id__`, `__message_id__`, `__metadata__`, `__files__`) and the record of the call. */
  context?: {
    kind: 'channel' | 'api';
    chat_id?: string;
    message_id?: string;
    metadata?: Record<string, unknown>;
    files?: object[];
  };
  /** The caller's time zone (IANA), for prompt variables; UTC unless given. */
  timeZone?: string;
  /** Gets the name of the connection that begins to answer, in each round. */
  onAnswer?: (connection: string) => void;
  /** Asks the person for a tool; without it, questions of tools fail. The message of a rejection reaches the tool. */
  onAsk?: (question: PersonQuestion) => Promise<unknown>;
  signal: AbortSignal;
}

/** A question of a tool for the person whom it runs for. */
export interface PersonQuestion {
  call: Readonly<Pick<ToolCallRecord, 'id' | 'tool_id' | 'name'>>;
  /** What the tool gave to `__event_call__`: JSON. */
  event: string;
  /** Fires when the tool waits no longer. */
  signal: AbortSignal;
  /** How long the tool waits. */
  limitMs: number;
}

/** A call of a tool by a model, as clients see it. */
export interface ToolCallRecord {
  id: string;
  tool_id: string;
  name: string;
  /** As the model wrote them: JSON text. */
  arguments: string;
  status: 'running' | 'done' | 'failed';
  /** Whether the tool waits for an answer of the person. */
  awaits_answer: boolean;
  /** Lines that the tool reported by `__event_emitter__`. */
  statuses: string[];
  /** As the model gets it; null while it runs. */
  result: string | null;
  duration_ms: number | null;
  /** Files that the tool made. */
  files: object[];
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cached_tokens: number;
}

/** Where a model stands in its turn. */
export type CompletionEvent =
  /**
   * A chunk of the provider for the client, as it came, with the id of the model that was asked for. What belongs to calls of the
   * server's tools is left out: their deltas, and `finish_reason` and `usage` of a round after which the turn goes on. The last chunk
   * with `usage` has the sum of all rounds. So doors pass chunks on as they are.
   */
  | { type: 'chunk'; chunk: ChatChunk }
  /** A call of the server's tools begins, reports, or ends; the record is the same object each time. */
  | { type: 'tool'; call: ToolCallRecord }
  /** The last event. `usage` is the sum of all rounds. */
  | {
      type: 'end';
      finish_reason: string;
      usage: CompletionUsage | null;
      first_token_ms: number | null;
      total_ms: number;
      rounds: number;
      /** False when the model was to have tools and cannot call functions. */
      tools_offered: boolean;
    };
