import { Skeleton } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Part } from '../../ui/Part.tsx';
import { PermissionSwitches } from '../permissions/PermissionSwitches.tsx';
import { Reach } from '../Reach.tsx';
import type { Group } from './group.ts';

/** What the group gives its members: permissions, and the tools and models that are granted to it. */
export function GroupPermissions({ group }: { group: Group }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const { data: preview, error } = useQuery(trpc.preview.group.queryOptions({ id: group.id }));
  const update = useMutation(
    trpc.groups.update.mutationOptions({
      // One after the other, since each change sends all permissions.
      scope: { id: `permissions ${group.id}` },
      onSuccess(stored) {
        queryClient.setQueryData(trpc.groups.get.queryKey({ id: group.id }), stored);
        return queryClient.invalidateQueries(trpc.preview.pathFilter());
      },
    }),
  );
  if (error) return <ErrorNote error={error} />;
  return (
    <>
      <Part title={t('section.permissions')} hint={t('groups.permissionsHint')}>
        {preview ? (
          <PermissionSwitches
            known={preview.effective_permissions}
            value={(update.isPending ? update.variables.permissions : group.permissions) ?? {}}
            given={preview.inherited_permissions}
            onChange={(permissions) => update.mutate({ id: group.id, permissions })}
          />
        ) : (
          <Skeleton height={360} />
        )}
      </Part>
      <Part title={t('groups.reach')} hint={t('groups.reachHint')}>
        {preview ? <Reach tools={preview.tools} models={preview.models} /> : <Skeleton height={80} />}
      </Part>
    </>
  );
}
