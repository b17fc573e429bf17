import { AppError } from '../../core/errors.ts';
import { ForeignJson } from '../../core/json/json.ts';
import type { Scope } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { traceStep } from '../../core/tracing.ts';
import type { FileView } from '../../files/files.schema.ts';
import type { AskCaller, CallContext, Usage } from '../../python/pool.ts';
import { requireReadyTool } from '../install/packages.service.ts';
import { type CallValves, withoutValves } from '../valves/valves.mask.ts';
import { openCallValves } from '../valves/valves.service.ts';
import { openRequests } from './requests.service.ts';

export interface ToolCall {
  id: string;
  function: string;
  arguments: Record<string, unknown>;
  /** The context of the call, which functions may declare. */
  context?: CallContext | undefined;
  /** Called with every event, as JSON, while the function runs; the events also come with the answer. */
  onEvent?: ((event: string) => void) | undefined;
  /** Asks the caller. The question is JSON. Without it, a question of a function fails. */
  onAsk?: AskCaller | undefined;
  /** Called with each file that the function has uploaded. */
  onUpload?: ((file: FileView) => void) | undefined;
  /** Ends the call; unless given, the signal of the scope. */
  signal?: AbortSignal | undefined;
}

/** Result and events are JSON. */
export interface ToolResult {
  result: string;
  events: string[];
  duration_ms: number;
}

/** As `callTool`; the answer is JSON. */
export async function invokeTool(scope: Scope, call: ToolCall) {
  const { result, events, duration_ms } = await callTool(scope, call);
  return new ForeignJson<{ result: unknown; events: unknown[]; duration_ms: number }>(
    `{"result":${result},"events":[${events.join()}],"duration_ms":${duration_ms}}`,
  );
}

/**
 * Runs one function of a tool as the caller, on the stored source and valves. Records a run.
 *
 * @throws not_found, tool_forbidden, tool_not_ready, arguments_invalid, tool_raised, tool_timeout,
 * tool_interrupted, rate_limited, python_unavailable
 */
export const callTool = (scope: Scope, call: ToolCall): Promise<ToolResult> =>
  traceStep(
    () => ({ name: 'tool', attributes: { 'parley.tool.id': call.id, 'gen_ai.tool.name': call.function } }),
    () => runTool(scope, call),
  );

async function runTool(scope: Scope, call: ToolCall): Promise<ToolResult> {
  const tool = await requireReadyTool(scope, call.id, 'read');
  const signal = call.signal ?? scope.signal;
  const { id: userId, name, email, role } = scope.actor;
  const [startedAt, started] = [nowSeconds(), performance.now()];
  let valves: CallValves = {};
  let usage: Usage | undefined;
  // The usage of a call that ended with its process is known only after its answer.
  let complete: ((taken: Usage) => void) | undefined;
  let outcome = 'ok';
  const requests = openRequests(scope, call.onUpload);
  try {
    valves = openCallValves(scope, tool);
    return await scope.python.call({
      tool,
      function: call.function,
      arguments: call.arguments,
      user: { id: userId, name, email, role },
      ...valves,
      context: call.context,
      baseUrl: addressFor(scope),
      onEvent: call.onEvent,
      onAsk: call.onAsk,
      onRequest: requests.serve,
      onUsage(taken) {
        usage = taken;
        complete?.(taken);
      },
      signal,
    });
  } catch (error) {
    outcome = signal?.aborted ? 'cancelled' : error instanceof AppError ? error.code : 'internal';
    if (!(error instanceof AppError) || error.code !== 'tool_raised') throw error;
    throw new AppError(error.code, {
      detail: withoutValves(error.message, tool, valves),
      cause: error.cause,
    });
  } finally {
    requests.close();
    const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
    const told = { tool: tool.id, function: call.function, outcome, duration_ms: durationMs };
    scope.log.debug(told, 'A function of a tool was called.');
    complete = scope.toolRuns.record({
      tool_id: tool.id,
      tool_created_at: tool.created_at,
      version: tool.version,
      user_id: userId,
      function: call.function,
      outcome,
      started_at: startedAt,
      duration_ms: durationMs,
      cpu_ms: usage?.cpu_ms ?? null,
      peak_memory_bytes: usage?.peak_memory_bytes ?? null,
    });
  }
}

/**
 * The address of this server for the caller, with a trailing slash: the configured one, otherwise the one
 * that the caller used.
 */
function addressFor({ configs, request }: Scope): string {
  const address = configs.current.webui.url || URL.parse(request.origin ?? '')?.origin;
  return address ? `${address.replace(/\/+$/, '')}/` : '';
}
