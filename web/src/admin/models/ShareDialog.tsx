import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Globe } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { GrantsEditor } from '../../ui/grants/GrantsEditor.tsx';
import { EVERYONE, type Grant, grantInputs, grantsOf, rowsOf, withRight } from '../../ui/grants/grants.ts';
import type { Offered } from './offered.ts';

/** Who may use a model of a connection. */
export default function ShareDialog({ model, onClose }: { model: Offered; onClose(): void }) {
  const { t } = useTranslation('config');
  const queryClient = useQueryClient();
  const [grants, setGrants] = useState<Grant[]>(model.grants);
  const isShared = rowsOf(grants).some(({ id }) => id === EVERYONE.id);
  const share = useMutation(
    trpc.models.updateAccess.mutationOptions({
      meta: { showsError: true },
      async onSuccess() {
        await Promise.all([
          queryClient.invalidateQueries(trpc.models.pathFilter()),
          queryClient.invalidateQueries(trpc.modelWorkspace.pathFilter()),
        ]);
        onClose();
      },
    }),
  );
  return (
    <Modal opened onClose={onClose} title={t('model.shareName', { name: model.name })}>
      <Stack gap="md">
        {model.isOpen && <Text size="sm">{t('model.isOpen')}</Text>}
        {!isShared && (
          <Button
            variant="light"
            leftSection={<Globe size={16} aria-hidden />}
            onClick={() => setGrants(grantsOf(withRight(rowsOf(grants), EVERYONE, 'read')))}
          >
            {t('model.shareAll')}
          </Button>
        )}
        <GrantsEditor value={grants} onChange={setGrants} resource="model" />
        <ErrorNote error={share.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('common:action.cancel')}
          </Button>
          <Button
            loading={share.isPending}
            onClick={() =>
              share.mutate({ id: model.id, name: model.name, access_grants: grantInputs(grants) })
            }
          >
            {t('common:action.save')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
