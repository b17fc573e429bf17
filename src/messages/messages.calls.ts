import type { Scope } from '../core/scope.ts';
import type { PostedMessage } from './messages.schema.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly modelCalls: ModelCalls;
  }
}

/**
 * A model that a message names. `model_name` is absent if the model is unknown, or the author may not use it.
 */
export interface ModelMention {
  model_id: string;
  model_name?: string;
  resolved: boolean;
}

/** How messages call models. The noun `replies` provides it, because a reply is itself a message. */
export interface ModelCalls {
  /**
   * The models that a new message names, for `meta.mentions`; null if there are none. A text without `@` needs
   * no statement.
   */
  find(scope: Scope, content: string): Promise<ModelMention[] | null>;
  /**
   * Begins the replies of the models in `meta.mentions` of a stored message, and of the model whose message it
   * quotes. A second call begins those that are missing. Other messages need no statement.
   */
  begin(scope: Scope, message: PostedMessage): Promise<void>;
}
