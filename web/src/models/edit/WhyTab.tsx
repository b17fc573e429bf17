import { Stack, Text } from '@mantine/core';
import { lazy, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Picked, PrincipalPicker } from '../../ui/grants/PrincipalPicker.tsx';
import type { ModelRecord } from '../entries.ts';

const Explanation = lazy(async () => ({
  default: (await import('../../ui/grants/Explanation.tsx')).Explanation,
}));

/** For administrators: why a person may, or may not, use the model. */
export function WhyTab({ record: { id, name } }: { record: ModelRecord }) {
  const { t } = useTranslation('models');
  const [person, setPerson] = useState<Picked | null>(null);
  return (
    <Stack gap="sm" maw={560}>
      <Text size="sm" c="dimmed">
        {t('why.hint')}
      </Text>
      <PrincipalPicker
        label={t('why.person')}
        placeholder={t('why.placeholder')}
        kinds={['user']}
        onPick={setPerson}
      />
      {person && (
        <Explanation question={{ userId: person.id, kind: 'model', id, label: name, right: 'read' }} />
      )}
    </Stack>
  );
}
