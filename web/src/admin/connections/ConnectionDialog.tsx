import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { firstUnparsed } from '../../ui/schema/values.ts';
import { ConnectionFields } from './ConnectionFields.tsx';
import { ConnectionTest } from './ConnectionTest.tsx';
import {
  type Connection,
  hasLostSecrets,
  type Kind,
  newConnection,
  settingNamed,
  shownName,
} from './connections.ts';
import { useConnections } from './useConnections.ts';

interface Properties {
  kind: Kind;
  /** The place in the list; the end of the list adds one. */
  index: number;
  onClose(): void;
}

/** A connection as a form, which can be tested before it is saved. */
export default function ConnectionDialog({ kind, index, onClose }: Properties) {
  const { t } = useTranslation('config');
  const { lists, save, settings } = useConnections();
  // The list changes with the save, before the dialog closes.
  const [stored] = useState<Connection | null>(lists[kind][index] ?? null);
  const [edited, setEdited] = useState<Connection>(stored ?? newConnection(kind));
  const lock = (['urls', 'api_keys', 'api_configs'] as const)
    .map((name) => settingNamed(settings, kind, name))
    .find((setting) => setting?.locked);
  const isReady =
    edited.url.trim() !== '' && firstUnparsed(edited.config) === null && !hasLostSecrets(stored, edited);
  const title = stored
    ? t('connection.edit', { name: shownName(stored, index) })
    : t(`connection.new.${kind}`);
  return (
    <Modal opened onClose={onClose} title={title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const next = { ...edited, isByUrl: edited.isByUrl && edited.url === stored?.url };
          save.mutate({ kind, before: stored, next }, { onSuccess: onClose });
        }}
      >
        <Stack gap="sm">
          {lock && <Alert color="gray">{t('connection.locked', { variable: lock.variable })}</Alert>}
          <ConnectionFields
            value={edited}
            stored={stored}
            onChange={setEdited}
            error={save.error}
            index={index}
          />
          <ConnectionTest connection={edited} isReady={isReady} />
          <ErrorNote error={save.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('common:action.cancel')}
            </Button>
            <Button type="submit" loading={save.isPending} disabled={!isReady || Boolean(lock)}>
              {t('common:action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
