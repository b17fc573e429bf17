import { Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { keepDestination } from './destination.ts';

interface Properties {
  /** The name of each provider by its place in the address. */
  providers: Record<string, string>;
  to: string | undefined;
}

/** Links to sign-ins through providers: the server sends the browser there and back. */
export function Providers({ providers, to }: Properties) {
  const { t } = useTranslation('entrance');
  return (
    <Stack gap="xs">
      {Object.entries(providers).map(([id, name]) => (
        <Button
          key={id}
          component="a"
          variant="default"
          href={`/oauth/${encodeURIComponent(id)}/login`}
          onClick={() => keepDestination(to)}
        >
          {t('signIn.through', { name })}
        </Button>
      ))}
    </Stack>
  );
}
