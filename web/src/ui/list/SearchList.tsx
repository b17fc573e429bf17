import { Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import { type ReactNode, useState } from 'react';

interface Properties<Item> {
  items: Item[];
  /** The texts of an item that the search reads. */
  textsOf(item: Item): string[];
  /** A row for an item, with a `key`. */
  row(item: Item): ReactNode;
  /** What screen readers call the list. */
  label: string;
  searchLabel: string;
  /** Shown where no item fits. */
  emptyText: string;
  /** Beside the search. */
  filters?: ReactNode;
}

/** A list with a search above it. */
export function SearchList<Item>({
  items,
  textsOf,
  row,
  label,
  searchLabel,
  emptyText,
  filters,
}: Properties<Item>) {
  const [search, setSearch] = useState('');
  const words = search.trim().toLowerCase();
  const found = items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(words)));
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <TextInput
          aria-label={searchLabel}
          placeholder={searchLabel}
          leftSection={<Search size={14} aria-hidden />}
          value={search}
          onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          style={{ flex: '1 1 200px' }}
          maw={360}
        />
        {filters}
      </Group>
      {found.length === 0 && <Text c="dimmed">{emptyText}</Text>}
      <Stack gap={0} component="ul" m={0} p={0} aria-label={label}>
        {found.map(row)}
      </Stack>
    </Stack>
  );
}

/** Stands for a list until its items are there. */
export const SearchListSkeleton = () => (
  <Stack gap="sm">
    <Skeleton height={32} maw={360} />
    {[1, 2, 3, 4].map((row) => (
      <Skeleton key={row} height={50} />
    ))}
  </Stack>
);
