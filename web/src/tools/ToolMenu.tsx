import { ActionIcon, Menu, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Tool } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Download, Ellipsis, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useMe } from '../api/session.ts';
import { saveJson } from '../base/files.ts';
import { ConfirmModal } from '../ui/ConfirmButton.tsx';
import { removeDraft } from './edit/drafts.ts';
import { useToolRights } from './rights.ts';

/** What is done with a tool as a whole. */
export function ToolMenu({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tools');
  const me = useMe();
  const { mayExport } = useToolRights();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, { open, close }] = useDisclosure(false);
  const remove = useMutation(
    trpc.tools.delete.mutationOptions({
      async onSuccess() {
        removeDraft(me.id, tool.id);
        await queryClient.invalidateQueries({ queryKey: trpc.tools.list.queryKey() });
        await navigate({ to: '/tools', ignoreBlocker: true });
        queryClient.removeQueries({ queryKey: trpc.tools.get.queryKey({ id: tool.id }) });
      },
    }),
  );
  if (!mayExport && !tool.write_access) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('menu')}>
            <Ellipsis size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {mayExport && (
            <Menu.Item
              leftSection={<Download size={14} aria-hidden />}
              onClick={() => saveJson(`${tool.id}.json`, [tool])}
            >
              {t('export.one')}
            </Menu.Item>
          )}
          {tool.write_access && (
            <Menu.Item color="red" leftSection={<Trash2 size={14} aria-hidden />} onClick={open}>
              {t('delete.title')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={isAsking}
        onClose={close}
        title={t('delete.question', { name: tool.name })}
        confirm={t('delete.title')}
        onConfirm={() => remove.mutateAsync({ id: tool.id })}
      >
        <Text>{t('delete.hint')}</Text>
      </ConfirmModal>
    </>
  );
}
