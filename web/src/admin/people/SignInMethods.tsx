import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Properties {
  /** `password`, `ldap`, or the address of a provider. */
  methods: string[];
}

/** How an account may sign in; providers by the name of their server. */
export function SignInMethods({ methods }: Properties) {
  const { t } = useTranslation('admin');
  const nameOf = (method: string) =>
    URL.canParse(method) ? new URL(method).host : t(`signIn.${method}`, { defaultValue: method });
  return <Text size="sm">{methods.map(nameOf).join(', ') || t('signIn.none')}</Text>;
}
