import { Alert, Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx';
import { SettingRow } from './SettingRow.tsx';
import classes from './settings.module.css';
import type { Setting } from './settings.ts';
import { Conflict, type Drafts } from './useDrafts.ts';

interface RowsProperties {
  settings: Setting[];
  drafts: Drafts;
  /** What screen readers call the form. */
  label: string;
}

/** Rows of settings. `SaveBar` saves what changed in them. */
export function SettingRows({ settings, drafts, label }: RowsProperties) {
  return (
    <ul className={classes.rows} aria-label={label}>
      {settings.map((setting) => (
        <SettingRow key={setting.path} setting={setting} drafts={drafts} />
      ))}
    </ul>
  );
}

interface BarProperties {
  drafts: Drafts;
  /** Shows all changed settings, where the form shows only some. */
  onShowChanges?(): void;
}

/** Shown while a form has changes: how many, and what to do with them. */
export function SaveBar({ drafts, onShowChanges }: BarProperties) {
  const { t } = useTranslation('config');
  const count = drafts.byPath.size;
  if (count === 0) return null;
  return (
    <Stack className={classes.bar} gap="xs" role="region" aria-label={t('form.changes', { count })}>
      <LeaveGuard isDirty />
      {drafts.error instanceof Conflict ? (
        <Alert color="yellow" role="alert" icon={<CircleAlert size={18} aria-hidden />}>
          {t('form.conflict')}
        </Alert>
      ) : (
        <ErrorNote error={drafts.error} />
      )}
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm">{t('form.changes', { count })}</Text>
          {onShowChanges && (
            <Anchor component="button" type="button" size="sm" onClick={onShowChanges}>
              {t('form.showChanges')}
            </Anchor>
          )}
        </Group>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={drafts.discard} disabled={drafts.isSaving}>
            {t('form.discard')}
          </Button>
          <Button size="xs" onClick={drafts.save} loading={drafts.isSaving} disabled={drafts.isUnfinished}>
            {t('common:action.save')}
          </Button>
        </Group>
      </Group>
    </Stack>
  );
}
