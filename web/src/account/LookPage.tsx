import { Input, SegmentedControl, Select, Stack, useMantineColorScheme } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Density, density, setDensity } from '../base/density.ts';
import { languages, setLanguage } from '../base/languages.ts';
import { Page } from '../ui/Page.tsx';

const DENSITIES: Density[] = ['compact', 'comfortable'];
const SCHEMES = ['light', 'dark', 'auto'] as const;

/** The name of a language in itself: `Deutsch`. */
const nameOf = (language: string) =>
  new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;

export function LookPage() {
  const { t, i18n } = useTranslation('account');
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [current, setCurrent] = useState(density());
  const choose = (next: Density) => {
    setDensity(next);
    setCurrent(next);
  };
  return (
    <Page title={t('look.title')}>
      <Stack gap="lg" align="start">
        <Select
          label={t('look.language')}
          description={t('look.browser')}
          allowDeselect={false}
          value={i18n.language}
          onChange={(language) => language && void setLanguage(language)}
          data={languages.map((language) => ({ value: language, label: nameOf(language) }))}
        />
        <Input.Wrapper label={t('look.colors')} labelElement="div">
          <div>
            <SegmentedControl
              aria-label={t('look.colors')}
              value={colorScheme}
              onChange={(scheme) => setColorScheme(scheme as (typeof SCHEMES)[number])}
              data={SCHEMES.map((scheme) => ({ value: scheme, label: t(`look.${scheme}`) }))}
            />
          </div>
        </Input.Wrapper>
        <Input.Wrapper label={t('look.density')} labelElement="div">
          <div>
            <SegmentedControl
              aria-label={t('look.density')}
              value={current}
              onChange={(next) => choose(next as Density)}
              data={DENSITIES.map((name) => ({ value: name, label: t(`look.${name}`) }))}
            />
          </div>
        </Input.Wrapper>
      </Stack>
    </Page>
  );
}
