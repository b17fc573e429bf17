import { Group, Text } from '@mantine/core';
import { CircleAlert, CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { useTranslation } from 'react-i18next';

const LOOKS = {
  ok: { Icon: CircleCheck, color: 'green' },
  degraded: { Icon: CircleAlert, color: 'yellow' },
  asking: { Icon: CircleDashed, color: 'gray' },
  down: { Icon: CircleX, color: 'red' },
  failed: { Icon: CircleX, color: 'red' },
} as const;

/** A state in words with a sign; the colour alone says nothing. */
export function StateBadge({ state }: { state: keyof typeof LOOKS }) {
  const { t } = useTranslation('admin');
  const { Icon, color } = LOOKS[state];
  return (
    <Group gap={6} wrap="nowrap">
      <Icon size={16} color={`var(--mantine-color-${color}-filled)`} aria-hidden />
      <Text size="sm">{t(`state.states.${state}`)}</Text>
    </Group>
  );
}
