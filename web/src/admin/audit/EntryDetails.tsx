import { Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ButtonTo } from '../../ui/links.tsx';
import { Actor, type Entry, Target } from './columns.tsx';

/** All of an entry: the values before and after as JSON, and ways to the entries of the same account and object. */
export function EntryDetails({ entry }: { entry: Entry }) {
  const { t } = useTranslation('admin');
  const { action, actor_id, credential, credential_id, target_type, target_id, ip, before, after } = entry;
  return (
    <Stack gap="xs" py="xs">
      <Group gap="xs" hiddenFrom="sm">
        <Actor entry={entry} />
        <Target entry={entry} />
      </Group>
      <Group gap="xs">
        <Text size="xs" c="dimmed">
          {[action, credential && `${t(`audit.credential.${credential}`)} ${credential_id ?? ''}`, ip]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xs">
        <Values title={t('audit.before')} values={before} />
        <Values title={t('audit.after')} values={after} />
      </SimpleGrid>
      <Group gap="xs">
        {actor_id && (
          <ButtonTo to="/admin/audit" search={{ actor: actor_id }} size="compact-xs" variant="default">
            {t('audit.sameActor')}
          </ButtonTo>
        )}
        {target_type && target_id && (
          <ButtonTo
            to="/admin/audit"
            search={{ target: `${target_type}:${target_id}` }}
            size="compact-xs"
            variant="default"
          >
            {t('audit.sameTarget')}
          </ButtonTo>
        )}
      </Group>
    </Stack>
  );
}

function Values({ title, values }: { title: string; values: Entry['before'] }) {
  if (values === null) return null;
  return (
    <div>
      <Text size="xs" fw={600}>
        {title}
      </Text>
      <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', maxHeight: 320 }}>
        {JSON.stringify(values, null, 2)}
      </Code>
    </div>
  );
}
