import { ActionIcon } from '@mantine/core';
import { CalendarDays } from 'lucide-react';
import type { Ref } from 'react';
import { useTranslation } from 'react-i18next';

interface Properties {
  onClick?: () => void;
  ref?: Ref<HTMLButtonElement>;
}

export function DateButton(properties: Properties) {
  const { t } = useTranslation('messages');
  const label = t('date.label');
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} title={label} {...properties}>
      <CalendarDays size={18} aria-hidden />
    </ActionIcon>
  );
}
