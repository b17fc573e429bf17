import { Center, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Properties {
  icon?: ReactNode;
  title: string;
  /** What to do first. */
  children?: ReactNode;
  action?: ReactNode;
}

export function Empty({ icon, title, children, action }: Properties) {
  return (
    <Center p="xl" mih={240}>
      <Stack align="center" gap="xs" maw={420} ta="center">
        {icon}
        <Title order={2} size="h4">
          {title}
        </Title>
        {children && <Text c="dimmed">{children}</Text>}
        {action}
      </Stack>
    </Center>
  );
}
