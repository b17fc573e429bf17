import { Drawer } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Navigation.module.css';

interface Properties {
  onClose(): void;
  children: ReactNode;
}

/** The navigation over the view, on a narrow screen. */
export default function NavigationDrawer({ onClose, children }: Properties) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened
      onClose={onClose}
      size={288}
      withCloseButton={false}
      hiddenFrom="sm"
      transitionProps={{ duration: 120 }}
      classNames={{ body: classes.drawer }}
      attributes={{ content: { 'aria-label': t('nav.main') } }}
    >
      {children}
    </Drawer>
  );
}
