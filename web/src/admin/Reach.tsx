import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Reachable {
  items: { id: string; name: string }[];
  total: number;
}

/** The tools and models that an account or a group may read, by name. */
export function Reach({ tools, models }: { tools: Reachable; models: Reachable }) {
  const { t } = useTranslation('admin');
  return (
    <Stack gap="xs">
      {Object.entries({ tools, models }).map(([kind, { items, total }]) => (
        <div key={kind}>
          <Text size="sm" fw={500}>
            {t(`reach.${kind}`, { count: items.length, total })}
          </Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {items.map(({ name }) => name).join(', ') || t('reach.none')}
          </Text>
        </div>
      ))}
    </Stack>
  );
}
