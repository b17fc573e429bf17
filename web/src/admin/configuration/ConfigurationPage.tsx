import { Alert, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core';
import { Search } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Empty } from '../../ui/Empty.tsx';
import { ButtonTo } from '../../ui/links.tsx';
import { Page } from '../../ui/Page.tsx';
import { SaveBar, SettingRows } from '../settings/SettingsForm.tsx';
import { type Setting, sectionOf, useExplained } from '../settings/settings.ts';
import { type Drafts, useDrafts } from '../settings/useDrafts.ts';
import { FileMenu } from './FileMenu.tsx';

/** Choices beside the sections: only what is set, or what is changed in this form. */
const SET = ':set';
const LOCKED = ':locked';
const CHANGED = ':changed';

export function ConfigurationPage() {
  const { t } = useTranslation(['config', 'admin', 'settings']);
  return (
    <Page
      title={t('admin:section.configuration')}
      wide
      actions={
        <Group gap="xs" wrap="nowrap">
          <ButtonTo to="/admin/configuration/history" size="xs" variant="default">
            {t('history.title')}
          </ButtonTo>
          <FileMenu />
        </Group>
      }
    >
      <Configuration />
    </Page>
  );
}

function Configuration() {
  const { t } = useTranslation('config');
  const { settings, faults } = useExplained();
  const drafts = useDrafts(settings);
  const [shown, setShown] = useState('ui');
  const [query, setQuery] = useState('');
  const wanted = useDeferredValue(query.trim().toLowerCase());
  const rows = useRows(settings, drafts, wanted, shown);
  return (
    <Stack gap="md" maw={960}>
      <Faults faults={faults} />
      <Group gap="xs" align="end">
        <TextInput
          size="sm"
          flex="1 1 240px"
          type="search"
          label={t('form.search')}
          placeholder={t('form.searchHint')}
          leftSection={<Search size={15} aria-hidden />}
          value={query}
          onChange={({ currentTarget: { value } }) => setQuery(value)}
        />
        <NativeSelect
          size="sm"
          flex="0 1 260px"
          label={t('form.show')}
          value={shown}
          disabled={wanted !== ''}
          onChange={({ currentTarget: { value } }) => setShown(value)}
          data={useChoices(settings, drafts)}
        />
      </Group>
      {rows.length === 0 && <Empty title={t('form.nothing')}>{t('form.nothingHint')}</Empty>}
      {rows.map(([section, members]) => (
        <Section key={section} name={section} settings={members} drafts={drafts} />
      ))}
      <SaveBar drafts={drafts} onShowChanges={() => setShown(CHANGED)} />
    </Stack>
  );
}

function Section({ name, settings, drafts }: { name: string; settings: Setting[]; drafts: Drafts }) {
  const { t } = useTranslation('config');
  const label = t(`section.${name}`, { defaultValue: name });
  const hint = t(`sectionHint.${name}`, { defaultValue: '' });
  return (
    <section aria-label={label}>
      <Title order={2} size="h4">
        {label}
      </Title>
      {hint && (
        <Text size="sm" c="dimmed">
          {hint}
        </Text>
      )}
      <SettingRows settings={settings} drafts={drafts} label={label} />
    </section>
  );
}

/** Stored values that the server cannot use. */
function Faults({ faults }: { faults: { path: string; message: string }[] }) {
  const { t } = useTranslation('config');
  if (faults.length === 0) return null;
  return (
    <Alert color="yellow" title={t('form.faults')}>
      {faults.map(({ path, message }) => (
        <Text key={path} size="sm">
          {path}: {message}
        </Text>
      ))}
    </Alert>
  );
}

function useChoices(settings: Setting[], drafts: Drafts) {
  const { t } = useTranslation('config');
  const sections = [...new Set(settings.map(sectionOf))];
  const nameOf = (section: string) => t(`section.${section}`, { defaultValue: section });
  return [
    ...sections.map((section) => ({ value: section, label: nameOf(section) })),
    { value: SET, label: t('form.onlySet') },
    { value: LOCKED, label: t('form.onlyLocked') },
    { value: CHANGED, label: t('form.onlyChanged', { count: drafts.byPath.size }) },
  ];
}

/** The settings to show, by their sections. A search goes through all of them. */
function useRows(settings: Setting[], drafts: Drafts, wanted: string, shown: string): [string, Setting[]][] {
  const { t } = useTranslation('settings');
  const wordsOf = ({ path, meaning, variable }: Setting) =>
    `${path} ${meaning} ${t(`meaning.${path}`, { defaultValue: '' })} ${variable ?? ''}`.toLowerCase();
  const isShown = (setting: Setting) => {
    if (wanted) return wanted.split(/\s+/).every((word) => wordsOf(setting).includes(word));
    if (shown === SET) return setting.source === 'stored';
    if (shown === LOCKED) return setting.locked;
    if (shown === CHANGED) return drafts.byPath.has(setting.path);
    return sectionOf(setting) === shown;
  };
  return [...Map.groupBy(settings.filter(isShown), sectionOf)];
}
