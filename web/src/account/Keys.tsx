import { Button, Code, CopyButton, Group, Modal, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../base/time.ts';
import { ConfirmButton } from '../ui/ConfirmButton.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Page } from '../ui/Page.tsx';
import { NewKey } from './NewKey.tsx';

export function Keys() {
  const { t } = useTranslation('account');
  const [isOpen, { open, close }] = useDisclosure(false);
  const [secret, setSecret] = useState<string | null>(null);
  const { data: keys } = useSuspenseQuery(trpc.apiKeys.list.queryOptions());
  const make = (
    <Button size="sm" onClick={open}>
      {t('keys.new')}
    </Button>
  );
  return (
    <Page title={t('keys.title')} wide actions={keys.length > 0 && make}>
      {keys.length === 0 ? (
        <Empty icon={<KeyRound size={32} aria-hidden />} title={t('keys.empty')} action={make}>
          {t('keys.emptyHint')}
        </Empty>
      ) : (
        <KeyTable keys={keys} />
      )}
      <Modal opened={isOpen} onClose={close} title={t('keys.new')}>
        <NewKey
          onMade={(key) => {
            close();
            setSecret(key);
          }}
        />
      </Modal>
      <Modal
        opened={secret !== null}
        onClose={() => setSecret(null)}
        title={t('keys.made')}
        closeOnClickOutside={false}
      >
        <Stack>
          <Text>{t('keys.once')}</Text>
          <Code block data-testid="key">
            {secret}
          </Code>
          <CopyButton value={secret ?? ''}>
            {({ copied, copy }) => (
              <Button onClick={copy}>{copied ? t('common:action.copied') : t('common:action.copy')}</Button>
            )}
          </CopyButton>
        </Stack>
      </Modal>
    </Page>
  );
}

interface Key {
  id: string;
  name: string;
  masked: string;
  allowed_endpoints: string[] | null;
  expires_at: number | null;
  last_used_at: number | null;
}

function KeyTable({ keys }: { keys: Key[] }) {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const revoke = useMutation(
    trpc.apiKeys.delete.mutationOptions({
      onSettled: () => queryClient.invalidateQueries(trpc.apiKeys.list.queryFilter()),
    }),
  );
  const timeOf = (seconds: number | null) =>
    seconds === null ? t('keys.never') : dayAndTime(dateOfSeconds(seconds));
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('keys.name')}</Table.Th>
            <Table.Th>{t('keys.key')}</Table.Th>
            <Table.Th>{t('keys.paths')}</Table.Th>
            <Table.Th>{t('keys.used')}</Table.Th>
            <Table.Th>{t('keys.expires')}</Table.Th>
            <Table.Th aria-label={t('keys.revoke')} />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map(({ id, name, masked, allowed_endpoints, last_used_at, expires_at }) => (
            <Table.Tr key={id}>
              <Table.Td>{name}</Table.Td>
              <Table.Td>
                <Code>{masked}</Code>
              </Table.Td>
              <Table.Td>{allowed_endpoints?.join(', ') ?? t('keys.allPaths')}</Table.Td>
              <Table.Td>{timeOf(last_used_at)}</Table.Td>
              <Table.Td>{timeOf(expires_at)}</Table.Td>
              <Table.Td>
                <Group justify="end">
                  <ConfirmButton
                    label={t('keys.revoke')}
                    title={t('keys.revokeTitle', { name })}
                    confirm={t('keys.revoke')}
                    size="compact-sm"
                    variant="subtle"
                    color="red"
                    onConfirm={() => revoke.mutateAsync({ id })}
                  >
                    {t('keys.revokeText')}
                  </ConfirmButton>
                </Group>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
