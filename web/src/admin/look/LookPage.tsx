import { Stack, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Page } from '../../ui/Page.tsx';
import { SaveBar, SettingRows } from '../settings/SettingsForm.tsx';
import { pick, type Setting, useExplained } from '../settings/settings.ts';
import { useDrafts } from '../settings/useDrafts.ts';
import { Preview } from './Preview.tsx';

const GROUPS = {
  look: ['webui.name', 'webui.logo', 'webui.color', 'ui.default_locale'],
  notices: ['ui.banners'],
  waiting: [
    'ui.pending_user_overlay_title',
    'ui.pending_user_overlay_content',
    'auth.admin.show',
    'auth.admin.email',
  ],
};

/** Name, logo and colour of the installation, notices for all people, and the words of the waiting page. */
export function LookPage() {
  const { t } = useTranslation(['config', 'admin', 'settings']);
  const all = useExplained().settings;
  const settings = pick(all, Object.values(GROUPS).flat());
  const drafts = useDrafts(settings);
  const textOf = (path: string): string => {
    const setting = settings.find((one) => one.path === path);
    const value = setting && drafts.valueOf(setting);
    return typeof value === 'string' ? value : '';
  };
  const isIn = (paths: string[]) => (setting: Setting) => paths.includes(setting.path);
  return (
    <Page title={t('admin:section.look')} wide>
      <Stack gap="xl" maw={960}>
        {Object.entries(GROUPS).map(([name, paths]) => (
          <section key={name} aria-label={t(`look.${name}`)}>
            <Title order={2} size="h4">
              {t(`look.${name}`)}
            </Title>
            {name === 'look' && (
              <Preview
                name={textOf('webui.name')}
                logo={textOf('webui.logo')}
                color={textOf('webui.color')}
              />
            )}
            <SettingRows settings={settings.filter(isIn(paths))} drafts={drafts} label={t(`look.${name}`)} />
          </section>
        ))}
        <SaveBar drafts={drafts} />
      </Stack>
    </Page>
  );
}
