import { Button, Checkbox, Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { BannerNote, type BannerView } from '../../../ui/BannerNote.tsx';
import type { FieldProperties } from '../field.ts';
import classes from './fields.module.css';
import { type RowProperties, RowsField } from './RowsField.tsx';

const TYPES = ['info', 'success', 'warning', 'error'] as const;
const now = () => Math.floor(Date.now() / 1000);

const newBanner = (): BannerView => ({
  id: `notice-${Date.now()}`,
  type: 'info',
  title: '',
  content: '',
  dismissible: true,
  timestamp: now(),
});

/** The notices at the top of the workspace. A changed one is shown again to people who dismissed it. */
export default function BannersEditor(field: FieldProperties) {
  const { t } = useTranslation('config');
  return (
    <RowsField
      field={field}
      rows={(Array.isArray(field.value) ? field.value : []) as BannerView[]}
      onChange={field.onChange}
      keyOf={({ id }) => id}
      component={BannerFields}
      first={newBanner}
      addLabel={t('banner.add')}
    />
  );
}

function BannerFields({ row: banner, number, isLocked, onChange }: RowProperties<BannerView>) {
  const { t } = useTranslation('config');
  const change = (changed: Partial<BannerView>) => onChange({ ...banner, ...changed, timestamp: now() });
  return (
    <fieldset className={classes.banner} disabled={isLocked} aria-label={t('banner.number', { number })}>
      <Stack gap="xs">
        <BannerNote banner={banner} />
        <Group gap="xs" align="end">
          <NativeSelect
            size="xs"
            label={t('banner.type')}
            value={banner.type}
            onChange={({ currentTarget }) => change({ type: currentTarget.value })}
            data={TYPES.map((type) => ({ value: type, label: t(`banner.typeName.${type}`) }))}
          />
          <TextInput
            size="xs"
            flex="1 1 180px"
            label={t('banner.title')}
            value={banner.title ?? ''}
            onChange={({ currentTarget }) => change({ title: currentTarget.value })}
          />
        </Group>
        <Textarea
          size="xs"
          label={t('banner.content')}
          autosize
          minRows={2}
          maxRows={8}
          value={banner.content}
          onChange={({ currentTarget }) => change({ content: currentTarget.value })}
        />
        <Group gap="xs" justify="space-between">
          <Checkbox
            size="xs"
            label={t('banner.dismissible')}
            checked={banner.dismissible}
            onChange={({ currentTarget }) => change({ dismissible: currentTarget.checked })}
          />
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            aria-label={t('banner.removeNumber', { number })}
            onClick={() => onChange(null)}
          >
            {t('banner.remove')}
          </Button>
        </Group>
      </Stack>
    </fieldset>
  );
}
