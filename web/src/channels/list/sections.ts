import type { Listed } from './counts.ts';

export type SectionName = 'boards' | 'groups' | 'direct';

const collator = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true });

/** The list in its sections: boards and groups by name, direct channels with the newest message first. */
export function sectionsOf(
  channels: Listed[],
  titleOf: (channel: Listed) => string,
): Record<SectionName, Listed[]> {
  const byName = (one: Listed, other: Listed) => collator.compare(titleOf(one), titleOf(other));
  const newestFirst = (one: Listed, other: Listed) =>
    (other.last_message_at ?? other.created_at) - (one.last_message_at ?? one.created_at);
  return {
    boards: channels.filter(({ type }) => type !== 'group' && type !== 'dm').sort(byName),
    groups: channels.filter(({ type }) => type === 'group').sort(byName),
    direct: channels.filter(({ type }) => type === 'dm').sort(newestFirst),
  };
}

/** All channels in the order of the list, for the keys that lead to the next one. */
export const inOrder = (sections: Record<SectionName, Listed[]>): Listed[] => [
  ...sections.boards,
  ...sections.groups,
  ...sections.direct,
];
