import type { Reach } from '../core/access.ts';
import type { Scope } from '../core/scope.ts';
import type { CallContext, FunctionSpec } from '../python/pool.ts';

/** A tool with its functions, as a model is told of it. */
export interface SourceTool {
  id: string;
  functions: readonly FunctionSpec[];
}

export interface SourceCall {
  toolId: string;
  function: string;
  arguments: Record<string, unknown>;
  /** For functions that declare `__messages__`, `__model__` and so on. */
  context: CallContext;
  /** Asks the caller; without it, a question of the function fails. The question is JSON. */
  onAsk: ((event: string, wait: { signal: AbortSignal; limitMs: number }) => Promise<unknown>) | undefined;
  /** Called with each line that the function reports of its progress. */
  onStatus(line: string): void;
  /** Called with each file that the function makes, as a message carries it in `data.files`. */
  onFile(file: object): void;
  /** Ends the call. */
  signal: AbortSignal;
}

/** Where tools come from: those that are stored here, and later servers of tools. */
export interface ToolSource {
  /** Those of these tools that the caller may use; the source may not know all of the ids. */
  list(scope: Scope, ids: readonly string[]): Promise<SourceTool[]>;
  /** The paths that a call of this tool counts as, for API keys that are bound to some paths. */
  reach(id: string): Reach;
  /** Runs a function as the caller, and returns its result as text. @throws AppError in words for the model */
  call(scope: Scope, call: SourceCall): Promise<string>;
}
