import { ActionIcon } from '@mantine/core';
import type { ReactNode, Ref } from 'react';

interface Properties {
  label: string;
  onClick?: () => void;
  children: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

/** A button below the field. */
export const Tool = ({ label, children, ...rest }: Properties) => (
  <ActionIcon variant="subtle" color="gray" size={30} aria-label={label} title={label} {...rest}>
    {children}
  </ActionIcon>
);
