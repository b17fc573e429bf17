import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Navigate, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { meQuery, useConfig, useSessionChange } from '../api/session.ts';
import { EntranceFrame } from './EntranceFrame.tsx';

const ASK_MS = 10_000;

/** Shown to an account that waits for approval. Goes on by itself once an administrator approves it. */
export function Pending() {
  const { t } = useTranslation('entrance');
  const { ui } = useConfig();
  const navigate = useNavigate();
  const changeSession = useSessionChange();
  const { data: me } = useQuery({ ...meQuery, staleTime: 0, refetchInterval: ASK_MS });
  // Refused where the installation does not show whom to ask.
  const { data: contact } = useQuery({ ...trpc.profile.whomToAsk.queryOptions(), retry: false });
  const signOut = useMutation(
    trpc.auths.signOut.mutationOptions({
      async onSuccess() {
        await navigate({ to: '/sign-in' });
        await changeSession();
      },
    }),
  );
  if (me === null) return <Navigate to="/sign-in" search={{ hasWaited: true }} />;
  if (me && me.role !== 'pending') return <Navigate to="/" />;
  return (
    <EntranceFrame title={ui?.pending_user_overlay_title || t('pending.title')}>
      <Stack gap="md">
        <Text>{ui?.pending_user_overlay_content || t('pending.hint')}</Text>
        {contact && (
          <Text>
            {t('pending.contact')}{' '}
            <Anchor href={`mailto:${contact.email}`}>{contact.name ?? contact.email}</Anchor>
          </Text>
        )}
        <Button variant="default" onClick={() => signOut.mutate()} loading={signOut.isPending}>
          {t('common:nav.signOut')}
        </Button>
      </Stack>
    </EntranceFrame>
  );
}
