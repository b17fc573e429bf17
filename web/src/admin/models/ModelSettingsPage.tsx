import { Stack, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';
import { SaveBar, SettingRows } from '../settings/SettingsForm.tsx';
import { pick, useExplained } from '../settings/settings.ts';
import { useDrafts } from '../settings/useDrafts.ts';
import { BaseModels } from './BaseModels.tsx';

const SETTINGS = [
  'models.open_provider_models',
  'ui.default_models',
  'ui.default_pinned_models',
  'ui.model_order_list',
  'models.default_params',
  'models.default_metadata',
  'models.base_models_cache',
  'channels.model_response_mode',
  'channels.model_chain',
  'channels.model_image_side',
];

export function ModelSettingsPage() {
  const { t } = useTranslation(['config', 'admin', 'settings']);
  const settings = pick(useExplained().settings, SETTINGS);
  const drafts = useDrafts(settings);
  return (
    <Page title={t('admin:section.models')} wide>
      <Stack gap="xl" maw={960}>
        <BaseModels />
        <section aria-label={t('model.settings')}>
          <Title order={2} size="h4">
            {t('model.settings')}
          </Title>
          <SettingRows settings={settings} drafts={drafts} label={t('model.settings')} />
          <SaveBar drafts={drafts} />
        </section>
      </Stack>
    </Page>
  );
}
