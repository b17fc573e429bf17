import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { Tool } from '@parley/client';
import { useTranslation } from 'react-i18next';
import { DiffView } from '../../ui/code/CodeEditor.tsx';

interface Properties {
  /** The tool as another person has stored it meanwhile. */
  stored: Tool;
  /** The text of this editor. */
  content: string;
  onClose(): void;
  onOverwrite(): void;
  onTake(): void;
}

/** Another version was stored while this text was edited: the person sees both and decides. */
export function ConflictDialog({ stored, content, onClose, onOverwrite, onTake }: Properties) {
  const { t } = useTranslation('tools');
  return (
    <Modal
      opened
      onClose={onClose}
      size="xl"
      title={t('conflict.title')}
      closeButtonProps={{ 'aria-label': t('conflict.goOn') }}
    >
      <Stack gap="md">
        <Text>{t('conflict.hint', { version: stored.version_id })}</Text>
        <DiffView
          label={t('conflict.difference')}
          original={stored.content ?? ''}
          modified={content}
          language="python"
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onTake}>
            {t('conflict.take')}
          </Button>
          <Button variant="default" onClick={onOverwrite}>
            {t('conflict.overwrite')}
          </Button>
          <Button onClick={onClose} data-autofocus>
            {t('conflict.goOn')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
