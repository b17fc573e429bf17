import { Stack, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Empty } from '../../ui/Empty.tsx';
import { Page } from '../../ui/Page.tsx';
import { useToolRights } from '../rights.ts';
import { FromAddress } from './FromAddress.tsx';
import { FromExport } from './FromExport.tsx';

/** Brings tools from a file of this or another server, or a source from an address. */
export function ImportPage() {
  const { t } = useTranslation('tools');
  const { mayImport, mayLoad } = useToolRights();
  return (
    <Page title={t('import.title')}>
      {!mayImport && <Empty title={t('import.noRight')} />}
      <Stack gap="xl">
        {mayImport && (
          <section>
            <Title order={2} size="h4" mb="xs">
              {t('import.file')}
            </Title>
            <FromExport />
          </section>
        )}
        {mayLoad && (
          <section>
            <Title order={2} size="h4" mb="xs">
              {t('import.address')}
            </Title>
            <FromAddress />
          </section>
        )}
      </Stack>
    </Page>
  );
}
