import { Modal } from '@mantine/core';
import type { Channel } from '@parley/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import type { SectionName } from '../list/sections.ts';
import { NewBoard } from './NewBoard.tsx';
import { NewDirect } from './NewDirect.tsx';
import { NewGroup } from './NewGroup.tsx';

interface Properties {
  kind: SectionName;
  onClose(): void;
}

const FORMS = { boards: NewBoard, groups: NewGroup, direct: NewDirect };

/** Makes a channel of one kind and opens it. */
export default function NewChannel({ kind, onClose }: Properties) {
  const { t } = useTranslation('channels');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const opened = async (channel: Channel) => {
    queryClient.setQueryData(trpc.channels.get.queryKey({ id: channel.id }), channel);
    onClose();
    await Promise.all([
      queryClient.invalidateQueries(trpc.channels.list.pathFilter()),
      navigate({ to: '/channels/$channelId', params: { channelId: channel.id } }),
    ]);
  };
  const Form = FORMS[kind];
  return (
    <Modal opened onClose={onClose} title={t(`new.${kind}`)} size="md">
      <Form onDone={opened} onCancel={onClose} />
    </Modal>
  );
}
