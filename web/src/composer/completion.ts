import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { findEmoji, namedEmoji } from '../ui/emoji/data.ts';
import { type Mention, mentionOfModel, mentionOfPerson } from './mentions.ts';

/** What is being written before the caret that a list can complete. */
export interface Trigger {
  kind: 'mention' | 'emoji';
  query: string;
  /** Where the `@` or `:` stands. */
  start: number;
}

export interface Completion {
  key: string;
  kind: 'person' | 'model' | 'all' | 'emoji';
  label: string;
  detail: string | null;
  /** The account of a person, for the picture. */
  id: string;
  /** What goes into the field in place of the query; a mention is written with its label. */
  text: string;
  mention: Mention | null;
}

/** Names longer than this are not looked for. */
const LOOK_BACK = 64;
/** A name may have two words. */
const MENTION = /(?:^|[\s(])@((?:[\p{L}\p{N}._'’-]+(?: [\p{L}\p{N}._'’-]+)?)?)$/u;
const EMOJI = /(?:^|[\s(]):([\p{L}\p{N}_+-]{2,})$/u;
const MOST_PEOPLE = 8;
const MOST_MODELS = 5;
const MOST_EMOJI = 8;
const SEARCH_DELAY_MS = 80;

export function triggerAt(text: string, caret: number, mentions: Mention[]): Trigger | null {
  const before = text.slice(Math.max(0, caret - LOOK_BACK), caret);
  const name = MENTION.exec(before)?.[1];
  if (name !== undefined) {
    // The name is whole, and the sentence goes on.
    const isWhole = [...mentions.map(({ label }) => label), 'here', 'channel'].some(
      (label) => name === label || name.startsWith(`${label} `),
    );
    return isWhole ? null : { kind: 'mention', query: name, start: caret - name.length - 1 };
  }
  const emoji = EMOJI.exec(before)?.[1];
  return emoji === undefined ? null : { kind: 'emoji', query: emoji, start: caret - emoji.length - 1 };
}

/** What the list offers, the best first. */
export function useCompletions(channelId: string, trigger: Trigger | null): Completion[] {
  const mention = useMentions(channelId, trigger?.kind === 'mention' ? trigger.query : null);
  const emoji = useEmoji(trigger?.kind === 'emoji' ? trigger.query : null);
  if (!trigger) return [];
  return trigger.kind === 'mention' ? mention : emoji;
}

function useMentions(channelId: string, query: string | null): Completion[] {
  const { t } = useTranslation('composer');
  const [asked] = useDebouncedValue(query, SEARCH_DELAY_MS);
  const people = useQuery(
    trpc.members.list.queryOptions(
      { id: channelId, ...(asked && { query: asked }) },
      { enabled: query !== null && asked !== null, placeholderData: keepPreviousData },
    ),
  );
  const models = useQuery(trpc.models.list.queryOptions({}, { enabled: query !== null, staleTime: 60_000 }));
  if (query === null) return [];
  const wanted = query.toLowerCase();
  const matches = (...texts: (string | null)[]) => texts.some((text) => text?.toLowerCase().includes(wanted));
  const all = ['here', 'channel'] as const;
  return [
    ...(people.data?.users ?? [])
      .filter(({ name, username, email }) => matches(name, username, email))
      .slice(0, MOST_PEOPLE)
      .map(({ id, name, username, email }) => ({
        ...{ key: id, kind: 'person' as const, id, label: name, detail: username ?? email, text: '' },
        mention: mentionOfPerson(id, name),
      })),
    ...(models.data?.data ?? [])
      .filter(({ id, name }) => matches(id, name))
      .slice(0, MOST_MODELS)
      .map(({ id, name }) => ({
        ...{
          key: `model ${id}`,
          kind: 'model' as const,
          id,
          label: name,
          detail: t('mention.model'),
          text: '',
        },
        mention: mentionOfModel(id, name),
      })),
    ...all
      .filter((name) => name.startsWith(wanted))
      .map((name) => ({
        ...{ key: name, kind: 'all' as const, id: name, label: name, detail: t(`mention.${name}`) },
        text: `@${name}`,
        mention: null,
      })),
  ];
}

function useEmoji(query: string | null): Completion[] {
  const { i18n } = useTranslation();
  const { data } = useQuery({
    queryKey: ['emoji', i18n.language],
    queryFn: () => namedEmoji(i18n.language),
    enabled: query !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query === null || !data) return [];
  return findEmoji(data, query, MOST_EMOJI).map(({ emoji, label, names }) => ({
    key: emoji,
    kind: 'emoji' as const,
    label: names[0] ? `:${names[0]}:` : label,
    detail: names[0] ? label : null,
    id: emoji,
    text: emoji,
    mention: null,
  }));
}
