import { Stack, Text } from '@mantine/core';
import type { Tool } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { GrantsEditor } from '../ui/grants/GrantsEditor.tsx';
import { grantInputs } from '../ui/grants/grants.ts';

/** Who may use and change the tool. Each change is stored at once. */
export function AccessTab({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tools');
  const queryClient = useQueryClient();
  const share = useMutation(
    trpc.tools.updateAccess.mutationOptions({
      onSuccess(stored) {
        queryClient.setQueryData(trpc.tools.get.queryKey({ id: tool.id }), stored);
        void queryClient.invalidateQueries({ queryKey: trpc.tools.list.queryKey() });
      },
    }),
  );
  return (
    <Stack gap="sm" maw={560}>
      <Text size="sm" c="dimmed">
        {t('access.hint')}
      </Text>
      <GrantsEditor
        resource="tool"
        value={share.isPending ? share.variables.access_grants : tool.access_grants}
        onChange={(grants) => share.mutate({ id: tool.id, access_grants: grantInputs(grants) })}
        disabled={share.isPending}
      />
    </Stack>
  );
}
