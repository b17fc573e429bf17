import type { Message } from '@parley/client';

export type { Message };

export interface MessageBodyProperties {
  message: Message;
  /** True while a model writes: `message.content` grows several times a second. */
  isLive: boolean;
  channelId: string;
  /** Stops the reply of the model. */
  onStop(): void;
  /** Lets the model write its reply anew. */
  onRetry(): void;
}

export interface AttachmentsProperties {
  files: Message['data']['files'];
}
