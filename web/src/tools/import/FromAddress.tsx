import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { readDraft, writeDraft } from '../edit/drafts.ts';

/** Loads a source and opens it as a new tool, which is stored only after the person has read it. */
export function FromAddress() {
  const { t } = useTranslation('tools');
  const me = useMe();
  const navigate = useNavigate();
  const [url, setUrl] = useState('');
  const draft = readDraft(me.id, null);
  const load = useMutation(
    trpc.toolLoad.url.mutationOptions({
      meta: { showsError: true },
      onSuccess({ name, content }) {
        writeDraft(me.id, null, { name, content, description: '', versionId: null });
        void navigate({ to: '/tools/new' });
      },
    }),
  );
  function submit(event: FormEvent) {
    event.preventDefault();
    load.mutate({ url: url.trim() });
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('import.addressHint')}
        </Text>
        <TextInput
          label={t('import.url')}
          type="url"
          required
          placeholder="https://github.com/…"
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        {draft && <Alert color="yellow">{t('import.replacesDraft', { name: draft.name })}</Alert>}
        <ErrorNote error={load.error} />
        <Group>
          <Button type="submit" variant="default" loading={load.isPending} disabled={url.trim() === ''}>
            {draft ? t('import.replace') : t('import.load')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
