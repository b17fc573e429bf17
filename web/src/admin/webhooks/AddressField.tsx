import { Button, CopyButton, Group, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';

interface Properties {
  /** Empty while it loads. */
  address: string;
  /** True where the server cannot read the token any more. */
  isLost?: boolean;
}

export function AddressField({ address, isLost = false }: Properties) {
  const { t } = useTranslation('admin');
  if (isLost) return <Text size="sm">{t('webhooks.lost')}</Text>;
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        flex={1}
        readOnly
        label={t('webhooks.address')}
        description={t('webhooks.addressHint')}
        value={address}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <CopyButton value={address}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} disabled={!address}>
            {t(copied ? 'common:action.copied' : 'common:action.copy')}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
