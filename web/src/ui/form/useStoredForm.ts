import { type UseFormInput, useForm } from '@mantine/form';
import { useEffect, useRef } from 'react';
import { isSame } from '../schema/values.ts';

/**
 * A form over a stored record. A field that the person has not changed follows the record, and `changesIn` gives only the fields
 * that the person changed: a save must not replace what another person stored meanwhile.
 */
export function useStoredForm<Values extends object>(
  stored: Values,
  options: Omit<UseFormInput<Values>, 'initialValues'> = {},
) {
  const form = useForm<Values>({ ...options, initialValues: stored });
  const base = useRef(stored);
  const changesIn = (values: Values): Partial<Values> => differing(values, base.current);
  useEffect(() => {
    const newer = differing(stored, base.current);
    const own = differing(form.getValues(), base.current);
    base.current = stored;
    if (Object.keys(newer).length > 0) form.setValues({ ...newer, ...own });
  });
  return { form, changesIn };
}

/** The members of the first record that are not the same in the second. */
const differing = <Values extends object>(one: Values, other: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(one).filter(([name, value]) => !isSame(value, other[name as keyof Values])),
  ) as Partial<Values>;
