import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import type { CSSProperties } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MASK } from '../settings/settings.ts';
import classes from './connections.module.css';
import type { Connection } from './connections.ts';

type Report = Outputs['providers']['test'];
const STEPS = ['resolve', 'connect', 'authorise', 'models', 'first_token'] as const;

interface Properties {
  connection: Connection;
  isReady: boolean;
}

/** Tries the connection as it stands in the form. Nothing is saved. */
export function ConnectionTest({ connection: { kind, url, key, config }, isReady }: Properties) {
  const { t } = useTranslation('config');
  const test = useMutation(trpc.providers.test.mutationOptions({ meta: { showsError: true } }));
  const { key: _key, enable: _enable, ...settings } = config;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Button
          variant="default"
          size="xs"
          disabled={!isReady}
          loading={test.isPending}
          onClick={() =>
            // Without a key, the server would take the stored one.
            test.mutate({ kind, url: url.trim(), ...(key !== MASK && { key }), config: settings })
          }
        >
          {t('test.start')}
        </Button>
        {test.data && (
          <Text size="sm" role="status" c={test.data.ok ? undefined : 'var(--mantine-color-error)'}>
            {t(test.data.ok ? 'test.ok' : 'test.failed')}
          </Text>
        )}
      </Group>
      <ErrorNote error={test.error} />
      {(test.isPending || test.data) && <Steps report={test.isPending ? undefined : test.data} />}
    </Stack>
  );
}

function Steps({ report }: { report: Report | undefined }) {
  const { t } = useTranslation('config');
  return (
    <ol className={classes.steps} aria-label={t('test.steps')}>
      {STEPS.map((step, place) => {
        const done = report?.steps.find((one) => one.step === step);
        return (
          <li
            key={step + String(Boolean(report))}
            className={classes.step}
            style={{ '--place': place } as CSSProperties}
          >
            <Mark isAsked={!report && place === 0} isOk={done?.ok} />
            <div>
              <Text size="sm" c={done || !report ? undefined : 'dimmed'}>
                {t(`test.step.${step}`)}
              </Text>
              {done && (
                <Text size="xs" c={done.ok ? 'dimmed' : 'var(--mantine-color-error)'}>
                  {done.detail}
                </Text>
              )}
            </div>
            {done && (
              <Text size="xs" c="dimmed">
                {t('test.time', { ms: Math.round(done.duration_ms) })}
              </Text>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function Mark({ isAsked, isOk }: { isAsked: boolean; isOk: boolean | undefined }) {
  const { t } = useTranslation('config');
  if (isAsked) return <Loader size={16} />;
  if (isOk === undefined)
    return <CircleDashed size={18} aria-label={t('test.notTried')} color="var(--text-quiet)" />;
  return isOk ? (
    <CircleCheck size={18} aria-label={t('test.stepOk')} color="var(--mantine-color-green-8)" />
  ) : (
    <CircleX size={18} aria-label={t('test.stepFailed')} color="var(--mantine-color-error)" />
  );
}
