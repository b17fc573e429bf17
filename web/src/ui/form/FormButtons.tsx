import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Properties {
  submit: string;
  isBusy: boolean;
  disabled?: boolean;
  onCancel(): void;
}

export function FormButtons({ submit, isBusy, disabled = false, onCancel }: Properties) {
  const { t } = useTranslation();
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {t('action.cancel')}
      </Button>
      <Button type="submit" loading={isBusy} disabled={disabled}>
        {submit}
      </Button>
    </Group>
  );
}
