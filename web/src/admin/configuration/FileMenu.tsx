import { ActionIcon, Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download, Ellipsis, Upload } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { saveJson } from '../../base/files.ts';
import { ConfirmModal } from '../../ui/ConfirmButton.tsx';

const ImportDialog = lazy(() => import('./ImportDialog.tsx'));

/** Export to a file, and import from one. */
export function FileMenu() {
  const { t } = useTranslation('config');
  const [open, setOpen] = useState<'import' | 'secrets' | null>(null);
  const exporting = useMutation({
    async mutationFn(secrets: boolean) {
      const configuration = await api.configs.export.query({ secrets });
      const day = new Date().toISOString().slice(0, 10);
      saveJson(`configuration-${day}.json`, configuration);
    },
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={30} aria-label={t('file.menu')}>
            <Ellipsis size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Download size={14} aria-hidden />} onClick={() => exporting.mutate(false)}>
            {t('file.export')}
          </Menu.Item>
          <Menu.Item leftSection={<Download size={14} aria-hidden />} onClick={() => setOpen('secrets')}>
            {t('file.exportSecrets')}
          </Menu.Item>
          <Menu.Item leftSection={<Upload size={14} aria-hidden />} onClick={() => setOpen('import')}>
            {t('file.import')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={open === 'secrets'}
        onClose={() => setOpen(null)}
        title={t('file.exportSecrets')}
        confirm={t('file.exportConfirm')}
        onConfirm={() => exporting.mutateAsync(true)}
      >
        {t('file.exportWarning')}
      </ConfirmModal>
      {open === 'import' && (
        <Suspense>
          <ImportDialog onClose={() => setOpen(null)} />
        </Suspense>
      )}
    </>
  );
}
