import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

interface Properties {
  title: string;
  hint?: ReactNode;
  /** Buttons beside the title. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A part of a page under a heading of its own. */
export function Part({ title, hint, actions, children }: Properties) {
  const id = useId();
  return (
    <Stack component="section" gap="sm" aria-labelledby={id}>
      <Group justify="space-between" gap="xs" mih={30}>
        <Title order={2} size="h5" id={id}>
          {title}
        </Title>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {hint && (
        <Text size="sm" c="dimmed" mt={-8}>
          {hint}
        </Text>
      )}
      {children}
    </Stack>
  );
}
