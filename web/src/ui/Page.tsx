import { Box, Group, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useConfig } from '../api/session.ts';
import { useAttentionCount } from './attention.ts';
import { MenuButton } from './MenuButton.tsx';
import classes from './Page.module.css';

interface Properties {
  title: string;
  /** Buttons at the end of the head. */
  actions?: ReactNode;
  /** True for tables and editors; forms and texts stay narrow enough to read. */
  wide?: boolean;
  /** True for views that fill the body and scroll by themselves. */
  fill?: boolean;
  children: ReactNode;
}

/** A view beside the navigation: a head with the title, and a body that scrolls. */
export function Page({ title, actions, wide = false, fill = false, children }: Properties) {
  const { name } = useConfig();
  const count = useAttentionCount();
  useDocumentTitle(`${count > 0 ? `(${count}) ` : ''}${title} · ${name}`);
  return (
    <div className={classes.page}>
      <Group component="header" className={classes.head} wrap="nowrap">
        <MenuButton />
        <Title order={1} size="h5" className={classes.title}>
          {title}
        </Title>
        {actions}
      </Group>
      <div className={classes.body} data-fill={fill || undefined}>
        {fill ? (
          children
        ) : (
          <Box className={classes.content} data-wide={wide || undefined}>
            {children}
          </Box>
        )}
      </div>
    </div>
  );
}
