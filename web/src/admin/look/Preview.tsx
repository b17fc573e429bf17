import { Button, Group, MantineProvider, NavLink, Text, useComputedColorScheme } from '@mantine/core';
import { Hash } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { cssVariables, themeOf } from '../../base/tokens.ts';
import classes from './look.module.css';

interface Properties {
  name: string;
  logo: string;
  color: string;
}

const COLOR = /^#[0-9a-f]{6}$/i;

/** The head of the navigation and a button, as they will look. */
export function Preview({ name, logo, color }: Properties) {
  const { t } = useTranslation('config');
  const scheme = useComputedColorScheme('light');
  const theme = useMemo(() => themeOf(COLOR.test(color) ? color : undefined, ''), [color]);
  return (
    <MantineProvider
      theme={theme}
      forceColorScheme={scheme}
      cssVariablesResolver={cssVariables}
      cssVariablesSelector="#preview"
      getRootElement={() => document.getElementById('preview') ?? undefined}
    >
      <div id="preview" className={classes.preview} role="img" aria-label={t('look.preview', { name })}>
        <div className={classes.side} aria-hidden inert>
          <Group gap="xs" wrap="nowrap">
            <img src={logo || '/favicon.svg'} alt="" width={22} height={22} />
            <Text fw={600} truncate>
              {name || 'Parley'}
            </Text>
          </Group>
          <NavLink label={t('look.sampleChannel')} leftSection={<Hash size={16} aria-hidden />} active />
        </div>
        <div className={classes.main} aria-hidden inert>
          <Text size="sm">{t('look.sampleText')}</Text>
          <Button size="xs">{t('look.sampleButton')}</Button>
        </div>
      </div>
    </MantineProvider>
  );
}
