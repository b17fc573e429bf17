import { Skeleton, Stack, Text, Title } from '@mantine/core';
import type { Tool } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import type { JsonSchema } from '../../ui/schema/schema.ts';
import { ValvesForm } from './ValvesForm.tsx';

/** The settings of the tool, for people who may change it, and those of the person. */
export function ValvesTab({ tool }: { tool: Tool }) {
  return (
    <Stack gap="xl" maw={640}>
      {tool.write_access && <Part toolId={tool.id} kind="tool" />}
      <Part toolId={tool.id} kind="own" />
    </Stack>
  );
}

interface PartProperties {
  toolId: string;
  kind: 'tool' | 'own';
}

function Part({ toolId, kind }: PartProperties) {
  const { t } = useTranslation('tools');
  const { valves } = trpc;
  const input = { id: toolId };
  const spec = useQuery((kind === 'tool' ? valves.spec : valves.userSpec).queryOptions(input));
  const values = useQuery((kind === 'tool' ? valves.get : valves.userGet).queryOptions(input));
  const error = spec.error ?? values.error;
  return (
    <section aria-label={t(`valves.${kind}.title`)}>
      <Title order={2} size="h4">
        {t(`valves.${kind}.title`)}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t(`valves.${kind}.hint`)}
      </Text>
      <ErrorNote error={error} onRetry={() => void Promise.all([spec.refetch(), values.refetch()])} />
      {!error && (spec.isPending || values.isPending) && <Skeleton height={120} />}
      {spec.data === null && <Text size="sm">{t(`valves.${kind}.none`)}</Text>}
      {spec.data && values.data && (
        <ValvesForm toolId={toolId} kind={kind} schema={spec.data as JsonSchema} stored={values.data} />
      )}
    </section>
  );
}
