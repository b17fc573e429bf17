import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { fieldErrors } from '../../base/errors.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx';
import { SchemaForm } from '../../ui/schema/SchemaForm.tsx';
import type { JsonSchema } from '../../ui/schema/schema.ts';
import { changesOf, firstUnparsed, isSame, type Values } from '../../ui/schema/values.ts';

interface Properties {
  toolId: string;
  /** The valves of the tool, or those of the person. */
  kind: 'tool' | 'own';
  schema: JsonSchema;
  stored: Values;
}

export function ValvesForm({ toolId, kind, schema, stored }: Properties) {
  const { t } = useTranslation(['tools', 'common']);
  const queryClient = useQueryClient();
  // Null until the person changes something, so that newer stored values are shown.
  const [edit, setEdit] = useState<{ base: Values; value: Values } | null>(null);
  const { base, value } = edit ?? { base: stored, value: stored };
  const isDirty = !isSame(value, base);
  const { valves } = trpc;
  const save = useMutation({
    ...(kind === 'tool' ? valves.update : valves.userUpdate).mutationOptions(),
    meta: { showsError: true },
    onSuccess(now) {
      const { queryKey } = (kind === 'tool' ? valves.get : valves.userGet).queryOptions({ id: toolId });
      queryClient.setQueryData(queryKey, now);
      setEdit(null);
    },
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    // Against the values that the change began with: another person may have stored others meanwhile.
    if (firstUnparsed(value) === null) save.mutate({ id: toolId, valves: changesOf(base, value) });
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="md">
        <SchemaForm
          schema={schema}
          value={value}
          stored={base}
          onChange={(changed) => setEdit({ base, value: changed })}
          errors={fieldErrors(save.error)}
        />
        <ErrorNote error={save.error} />
        <Group gap="xs">
          <Button type="submit" disabled={!isDirty} loading={save.isPending}>
            {t('common:action.save')}
          </Button>
          {isDirty && (
            <Button
              variant="default"
              onClick={() => {
                setEdit(null);
                save.reset();
              }}
            >
              {t('common:action.cancel')}
            </Button>
          )}
          {save.isSuccess && !isDirty && (
            <Text size="sm" c="dimmed" role="status">
              {t('valves.saved')}
            </Text>
          )}
        </Group>
      </Stack>
      <LeaveGuard isDirty={isDirty} />
    </form>
  );
}
