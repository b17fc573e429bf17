import { Button, Checkbox, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { BannerNote, type BannerView } from '../../../ui/BannerNote.tsx';
import type { FieldProperties } from '../field.ts';
import classes from './fields.module.css';

const TYPES = ['info', 'success', 'warning', 'error'] as const;
const now = () => Math.floor(Date.now() / 1000);

/** The notices at the top of the workspace. A changed one is shown again to people who dismissed it. */
export default function BannersEditor({ label, setting, value, onChange, error }: FieldProperties) {
  const { t } = useTranslation('config');
  const banners = (Array.isArray(value) ? value : []) as BannerView[];
  const add = () =>
    onChange([
      ...banners,
      {
        id: `notice-${Date.now()}`,
        type: 'info',
        title: '',
        content: '',
        dismissible: true,
        timestamp: now(),
      },
    ]);
  return (
    <Stack gap="sm" role="group" aria-label={label}>
      {banners.map((banner, index) => (
        <BannerFields
          key={banner.id}
          banner={banner}
          number={index + 1}
          isLocked={setting.locked}
          onChange={(next) => onChange(next ? banners.with(index, next) : banners.toSpliced(index, 1))}
        />
      ))}
      {error && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        disabled={setting.locked}
        style={{ alignSelf: 'start' }}
        onClick={add}
      >
        {t('banner.add')}
      </Button>
    </Stack>
  );
}

interface BannerProperties {
  banner: BannerView;
  number: number;
  isLocked: boolean;
  /** Null removes it. */
  onChange(next: BannerView | null): void;
}

function BannerFields({ banner, number, isLocked, onChange }: BannerProperties) {
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
