import { Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ConfirmModal } from '../ConfirmButton.tsx';

interface Properties {
  isDirty: boolean;
  /** What happens to the changes; that they are lost, unless given. */
  hint?: string;
}

/** Asks before another view replaces a form with unsaved changes. */
export function LeaveGuard({ isDirty, hint }: Properties) {
  const { t } = useTranslation();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <ConfirmModal
      opened={status === 'blocked'}
      onClose={() => reset?.()}
      title={t('leave.title')}
      confirm={t('leave.confirm')}
      onConfirm={async () => proceed?.()}
    >
      <Text size="sm">{hint ?? t('leave.hint')}</Text>
    </ConfirmModal>
  );
}
