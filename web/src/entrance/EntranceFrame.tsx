import { Paper, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useConfig } from '../api/session.ts';
import { Logo } from '../ui/Logo.tsx';
import classes from './EntranceFrame.module.css';

interface Properties {
  title: string;
  hint?: string;
  children: ReactNode;
  /** The way to the other views of the entrance. */
  foot?: ReactNode;
}

/** What people see before they are in. */
export function EntranceFrame({ title, hint, children, foot }: Properties) {
  const { name } = useConfig();
  useDocumentTitle(`${title} · ${name}`);
  return (
    <main className={classes.frame}>
      <div className={classes.brand}>
        <Logo size={28} />
        <Text fw={600} size="lg">
          {name}
        </Text>
      </div>
      <Paper className={classes.card} withBorder p="xl">
        <Stack gap="md">
          <div>
            <Title order={1} size="h2">
              {title}
            </Title>
            {hint && (
              <Text c="dimmed" mt={4}>
                {hint}
              </Text>
            )}
          </div>
          {children}
        </Stack>
      </Paper>
      {foot}
    </main>
  );
}
