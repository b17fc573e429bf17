import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** Asks before another page replaces unsaved text. The draft in this browser stays in any case. */
export function LeaveGuard({ isDirty }: { isDirty: boolean }) {
  const { t } = useTranslation('tools');
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={t('leave.title')}>
      <Stack gap="md">
        <Text>{t('leave.hint')}</Text>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => proceed?.()}>
            {t('leave.leave')}
          </Button>
          <Button onClick={() => reset?.()} data-autofocus>
            {t('leave.stay')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
