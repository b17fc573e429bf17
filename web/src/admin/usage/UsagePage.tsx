import { Stack, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';
import { SaveBar, SettingRows } from '../settings/SettingsForm.tsx';
import { pick, useExplained } from '../settings/settings.ts';
import { useDrafts } from '../settings/useDrafts.ts';
import { BudgetUse } from './BudgetUse.tsx';
import { Usage } from './Usage.tsx';

export function UsagePage() {
  const { t } = useTranslation(['config', 'admin', 'settings']);
  const settings = pick(useExplained().settings, ['usage.limits', 'usage.prices']);
  const drafts = useDrafts(settings);
  return (
    <Page title={t('admin:section.usage')} wide>
      <Stack gap="xl" maw={960}>
        <Usage />
        <BudgetUse />
        <section aria-label={t('usage.budgets')}>
          <Title order={2} size="h4">
            {t('usage.budgets')}
          </Title>
          <SettingRows settings={settings} drafts={drafts} label={t('usage.budgets')} />
          <SaveBar drafts={drafts} />
        </section>
      </Stack>
    </Page>
  );
}
