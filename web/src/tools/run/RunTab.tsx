import { Button, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { isParleyError, type Tool } from '@parley/client';
import { Play, Square } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fieldErrors, showError } from '../../base/errors.ts';
import { QuestionDialog } from '../../ui/questions/QuestionDialog.tsx';
import { questionOf } from '../../ui/questions/question.ts';
import { SchemaForm } from '../../ui/schema/SchemaForm.tsx';
import type { JsonSchema } from '../../ui/schema/schema.ts';
import { firstUnparsed, type Values } from '../../ui/schema/values.ts';
import { RunOutput } from './RunOutput.tsx';
import { useRun } from './useRun.ts';

/** Runs a function by a form, and shows what it tells and asks meanwhile. */
export function RunTab({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tools');
  const [name, setName] = useState(tool.specs[0]?.name ?? '');
  // What was typed stays when another function is chosen for a while.
  const [typed, setTyped] = useState<Record<string, Values>>({});
  const { run, start, stop, answer, drop } = useRun(tool.id);
  const spec = tool.specs.find((each) => each.name === name) ?? tool.specs[0];
  const [question] = run.questions;
  if (!spec) return <Text c="dimmed">{t('run.noFunctions')}</Text>;
  const values = typed[spec.name] ?? {};
  const isRunning = run.state === 'running';
  function submit(event: FormEvent) {
    event.preventDefault();
    if (spec && !isRunning && firstUnparsed(values) === null) start(spec.name, values);
  }
  async function reply(ask: number, value: unknown) {
    try {
      await answer(ask, value);
    } catch (error) {
      showError(error);
      // 404: the question waits no longer.
      if (isParleyError(error) && error.status === 404) drop(ask);
      else throw error;
    }
  }
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
      <form onSubmit={submit} noValidate>
        <Stack gap="sm">
          <Select
            label={t('run.function')}
            data={tool.specs.map((each) => each.name)}
            value={spec.name}
            onChange={(chosen) => chosen && setName(chosen)}
            allowDeselect={false}
            disabled={isRunning}
          />
          {spec.description && (
            <Text size="sm" c="dimmed" style={{ whiteSpace: 'pre-wrap' }}>
              {spec.description}
            </Text>
          )}
          <SchemaForm
            key={spec.name}
            schema={spec.parameters as JsonSchema}
            value={values}
            onChange={(changed) => setTyped({ ...typed, [spec.name]: changed })}
            errors={fieldErrors(run.error)}
          />
          <Group gap="xs">
            <Button type="submit" leftSection={<Play size={14} aria-hidden />} loading={isRunning}>
              {t('run.start')}
            </Button>
            {isRunning && (
              <Button variant="default" leftSection={<Square size={14} aria-hidden />} onClick={stop}>
                {t('run.stop')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      <section aria-label={t('run.output')}>
        <RunOutput run={run} />
      </section>
      {question && (
        <QuestionDialog
          key={question.ask}
          question={questionOf(question.event)}
          asker={tool.name}
          onAnswer={(value) => reply(question.ask, value)}
        />
      )}
    </SimpleGrid>
  );
}
