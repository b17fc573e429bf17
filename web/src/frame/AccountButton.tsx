import { Text, UnstyledButton, type UnstyledButtonProps } from '@mantine/core';
import type { ButtonHTMLAttributes, Ref } from 'react';
import { useMe } from '../api/session.ts';
import { Person } from '../ui/Person.tsx';
import classes from './AccountMenu.module.css';

type Properties = UnstyledButtonProps &
  Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'style'> & { ref?: Ref<HTMLButtonElement> };

export function AccountButton(properties: Properties) {
  const me = useMe();
  return (
    <UnstyledButton {...properties} className={classes.button}>
      <Person id={me.id} name={me.name} size={24} />
      <Text truncate>{me.name}</Text>
    </UnstyledButton>
  );
}
