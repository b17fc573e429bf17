import { Button, Group, Text } from '@mantine/core';
import { AlignLeft, Save } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';

interface Properties {
  isDirty: boolean;
  /** The version that is shown. */
  version: string;
  isSaving: boolean;
  onSave(): void;
  isFormatting: boolean;
  /** Missing where the source cannot be changed. */
  onFormat: (() => void) | undefined;
  onDiscard(): void;
}

/** Save, format and discard, and whether the text is saved. */
export function EditorToolbar(properties: Properties) {
  const { isDirty, version, isSaving, onSave, isFormatting, onFormat, onDiscard } = properties;
  const { t } = useTranslation(['tools', 'common']);
  return (
    <Group gap="xs">
      <Button
        size="xs"
        leftSection={<Save size={14} aria-hidden />}
        disabled={!isDirty}
        loading={isSaving}
        onClick={onSave}
      >
        {t('common:action.save')}
      </Button>
      {onFormat && (
        <Button
          size="xs"
          variant="default"
          leftSection={<AlignLeft size={14} aria-hidden />}
          loading={isFormatting}
          onClick={onFormat}
        >
          {t('edit.format')}
        </Button>
      )}
      {isDirty && (
        <ConfirmButton
          size="xs"
          label={t('edit.discard')}
          title={t('edit.discardTitle')}
          confirm={t('edit.discard')}
          onConfirm={async () => onDiscard()}
        >
          <Text>{t('edit.discardHint')}</Text>
        </ConfirmButton>
      )}
      <Text size="xs" c="dimmed" role="status">
        {isDirty ? t('edit.unsaved') : t('edit.saved', { version })}
      </Text>
    </Group>
  );
}
