import { type ChangeEvent, type ClipboardEvent, type RefObject, useState } from 'react';
import { useConfig, useMe } from '../api/session.ts';
import { type Completion, type Trigger, triggerAt, useCompletions } from './completion.ts';
import { readDraft, updateDraft } from './drafts.ts';
import { bytesTooMany, insertAt } from './field.ts';
import { useUploads } from './files/uploads.ts';
import { encodeMentions, type Mention, withMention } from './mentions.ts';
import type { ComposerProperties } from './types.ts';

export type Compose = ReturnType<typeof useCompose>;

/** The draft of one channel or thread: its text, mentions and files, and what completes it. */
export function useCompose(
  draft: string,
  field: RefObject<HTMLTextAreaElement | null>,
  { channelId, quote, onSend, onQuoteEnd, onTyping }: ComposerProperties,
) {
  const [initial] = useState(() => readDraft(draft));
  const [text, setText] = useState(initial.text);
  const [mentions, setMentions] = useState<Mention[]>(initial.mentions);
  const uploads = useUploads(draft);
  const completion = useCompletionList(channelId);
  const { mayUpload, mostMib } = useUploadLimits();

  const content = encodeMentions(text, mentions);
  const tooMany = bytesTooMany(content);
  const files = uploads.list.flatMap(({ sent }) => sent ?? []);
  const isUploading = uploads.list.some(({ state }) => state === 'waiting' || state === 'sending');
  const isWhole = files.length === uploads.list.length;
  const canSend = (content.trim() !== '' || files.length > 0) && tooMany === 0 && isWhole;

  const change = (nextText: string, nextMentions = mentions) => {
    setText(nextText);
    setMentions(nextMentions);
    updateDraft(draft, { text: nextText, mentions: nextMentions });
  };
  const addFiles = (added: File[]) => {
    if (mayUpload && added.length > 0) uploads.add(added, mostMib);
    field.current?.focus();
  };
  return {
    ...completion,
    text,
    tooMany,
    uploads,
    mayUpload,
    isUploading,
    canSend,
    addFiles,
    onChange: ({ currentTarget }: ChangeEvent<HTMLTextAreaElement>) => {
      change(currentTarget.value);
      completion.follow(currentTarget, mentions);
      if (currentTarget.value !== '') onTyping();
    },
    onSelect: ({ currentTarget }: { currentTarget: HTMLTextAreaElement }) =>
      completion.follow(currentTarget, mentions),
    onPaste: (event: ClipboardEvent) => {
      const pasted = [...event.clipboardData.files];
      // Texts of office programs come with a picture of themselves.
      if (pasted.length === 0 || event.clipboardData.getData('text/plain')) return;
      event.preventDefault();
      addFiles(pasted);
    },
    pick: (picked: Completion) => {
      const { trigger } = completion;
      if (!trigger || !field.current) return;
      const [known, mention] = picked.mention
        ? withMention(mentions, picked.mention, picked.detail)
        : [mentions, null];
      setMentions(known);
      const end = trigger.start + 1 + trigger.query.length;
      insertAt(field.current, trigger.start, end, `${mention ? `@${mention.label}` : picked.text} `);
      // The change of the field ran before the new mention was known.
      change(field.current.value, known);
      completion.closeList();
    },
    send: () => {
      if (!canSend) return;
      onSend({ content, files, replyToId: quote?.id ?? null });
      onQuoteEnd();
      change('', []);
      uploads.clear();
      completion.closeList();
    },
  };
}

/** The list that completes what stands before the caret. */
function useCompletionList(channelId: string) {
  const [trigger, setTrigger] = useState<Trigger | null>(null);
  const [active, setActive] = useState(0);
  const completions = useCompletions(channelId, trigger);
  return {
    trigger,
    completions,
    active: Math.min(active, Math.max(0, completions.length - 1)),
    move: (by: number) => setActive((active + by + completions.length) % completions.length),
    closeList: () => setTrigger(null),
    follow: (field: HTMLTextAreaElement, mentions: Mention[]) => {
      const isCaret = field.selectionStart === field.selectionEnd;
      const next = isCaret ? triggerAt(field.value, field.selectionStart, mentions) : null;
      if (next?.start === trigger?.start && next?.query === trigger?.query) return;
      setTrigger(next);
      setActive(0);
    },
  };
}

function useUploadLimits() {
  const { role, permissions } = useMe();
  return {
    mayUpload: role === 'admin' || permissions.chat?.file_upload !== false,
    mostMib: useConfig().file?.max_size,
  };
}
