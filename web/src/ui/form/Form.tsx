import { Button, Group, Stack } from '@mantine/core';
import type { FormEventHandler, ReactNode } from 'react';
import { ErrorNote } from '../ErrorNote.tsx';

interface Properties {
  onSubmit: FormEventHandler<HTMLFormElement>;
  /** The mutation that the form calls. Its failure is shown above the fields. */
  call: { error: unknown; isPending: boolean };
  /** The words of the button. */
  submit: string;
  /** Where the button stands. */
  button?: 'start' | 'end' | 'wide';
  variant?: 'filled' | 'default';
  /** The fields. */
  children: ReactNode;
}

/** Fields with one button below them. */
export function Form({ onSubmit, call, submit, button = 'start', variant = 'filled', children }: Properties) {
  return (
    <form onSubmit={onSubmit}>
      <Stack gap="sm">
        <ErrorNote error={call.error} />
        {children}
        <Group justify={button === 'end' ? 'flex-end' : 'flex-start'} grow={button === 'wide'}>
          <Button type="submit" variant={variant} loading={call.isPending}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
