import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { GrantsEditor } from '../../ui/grants/GrantsEditor.tsx';
import { grantInputs } from '../../ui/grants/grants.ts';
import type { ModelRecord } from '../entries.ts';
import { useRefresh } from './useRefresh.ts';

/** Who may use and change the model. Each change is stored at once. */
export function AccessTab({ record }: { record: ModelRecord }) {
  const { t } = useTranslation('models');
  const refresh = useRefresh();
  const share = useMutation(trpc.models.updateAccess.mutationOptions({ onSuccess: refresh }));
  return (
    <Stack gap="sm" maw={560}>
      <Text size="sm" c="dimmed">
        {t('accessHint')}
      </Text>
      <GrantsEditor
        resource="model"
        value={share.isPending ? share.variables.access_grants : record.access_grants}
        onChange={(grants) => share.mutate({ id: record.id, access_grants: grantInputs(grants) })}
        disabled={share.isPending}
      />
    </Stack>
  );
}
