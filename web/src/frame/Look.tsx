import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { configQuery } from '../api/session.ts';
import { startDensity } from '../base/density.ts';
import { useHasNotices } from '../base/notify.ts';
import { cssVariables, themeOf } from '../base/tokens.ts';

startDensity();

const Notices = lazy(() => import('./Notices.tsx'));

const colorSchemes = localStorageColorSchemeManager({ key: 'parley.colors' });

/** Colours, type and density of the page: those of the installation and the choice of this browser. */
export function Look({ children }: { children: ReactNode }) {
  const { data } = useQuery(configQuery);
  const accent = data?.color || undefined;
  const { t } = useTranslation();
  const hasNotices = useHasNotices();
  const close = t('action.close');
  const theme = useMemo(() => themeOf(accent, close), [accent, close]);
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemes}
      cssVariablesResolver={cssVariables}
    >
      {hasNotices && (
        <Suspense>
          <Notices />
        </Suspense>
      )}
      {children}
    </MantineProvider>
  );
}
