import { Skeleton, Stack } from '@mantine/core';

const WIDTHS = [62, 44, 71, 50, 66, 38];

/** The room of the list while it loads. */
export const ListSkeleton = () => (
  <Stack gap={14} p="xs" pt="xl" aria-hidden>
    {WIDTHS.map((width) => (
      <Skeleton key={width} height={14} width={`${width}%`} radius="sm" />
    ))}
  </Stack>
);
