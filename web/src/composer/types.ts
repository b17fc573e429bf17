/** A file that is uploaded and goes with the next message. */
export interface SentFile {
  id: string;
  name: string;
  contentType: string;
  /** In bytes. */
  size: number;
}

/** What the composer hands over. The composer is empty afterwards: the outbox keeps the draft until it is stored. */
export interface Draft {
  content: string;
  files: SentFile[];
  /** The message that this one quotes. */
  replyToId: string | null;
}

/** The message that the next one quotes, as the composer shows it. */
export interface Quote {
  id: string;
  /** The author. */
  name: string;
  /** Its beginning. */
  text: string;
}

export interface ComposerProperties {
  channelId: string;
  /** The root of the thread; left out in the main line. */
  threadId?: string;
  /** The message that the next one quotes, shown above the text. */
  quote?: Quote | null;
  /** The person removed the quote. */
  onQuoteEnd(): void;
  onSend(draft: Draft): void;
  /** The person types; may be called for each key: the page tells the server seldom enough. */
  onTyping(): void;
  /** Arrow up in an empty composer: the person wants to edit the own last message. */
  onEditLast?(): void;
}
