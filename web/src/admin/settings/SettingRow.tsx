import { Alert, Anchor, Text } from '@mantine/core';
import { Lock } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { useNames } from '../../ui/grants/principals.ts';
import { SettingField } from './SettingField.tsx';
import classes from './settings.module.css';
import { isWideField, kindOf, type Setting, useMeaning } from './settings.ts';
import type { Drafts } from './useDrafts.ts';
import { ValueText } from './ValueText.tsx';

interface Properties {
  setting: Setting;
  drafts: Drafts;
}

/** One setting: its meaning, its field, and where its value comes from. */
export function SettingRow({ setting, drafts }: Properties) {
  const { path } = setting;
  const meaning = useMeaning(setting);
  const isChanged = drafts.byPath.has(path);
  const isWide = isWideField(setting);
  return (
    <li
      className={classes.row}
      data-changed={isChanged || undefined}
      data-wide={isWide || undefined}
      data-flag={kindOf(setting) === 'flag' || undefined}
    >
      <div>
        <Text size="sm" fw={500}>
          {meaning}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" className={classes.path}>
          {path}
        </Text>
        {!isWide && <Source setting={setting} drafts={drafts} />}
      </div>
      <div>
        <SettingField
          label={meaning}
          setting={setting}
          value={drafts.valueOf(setting)}
          onChange={(value) => drafts.change(setting, value)}
          error={drafts.problemOf(path)}
        />
        {isWide && <Source setting={setting} drafts={drafts} />}
        {drafts.hasConflict(setting) && <Meanwhile setting={setting} drafts={drafts} />}
      </div>
    </li>
  );
}

/** Source, default, lock and history of a value, and the way back. */
function Source({ setting, drafts }: Properties) {
  const { t } = useTranslation('config');
  const { path, source } = setting;
  const isChanged = drafts.byPath.has(path);
  return (
    <div className={classes.source}>
      <SourceText setting={setting} />
      {source !== 'default' && (
        <span>
          {t('setting.default')} <ValueText value={setting.default} />
        </span>
      )}
      {source === 'stored' && !setting.locked && !isChanged && (
        <Anchor component="button" type="button" inherit onClick={() => drafts.reset(setting)}>
          {t('setting.reset')}
        </Anchor>
      )}
      {isChanged && (
        <Anchor component="button" type="button" inherit onClick={() => drafts.undo(path)}>
          {t('setting.undo')}
        </Anchor>
      )}
      <HistoryLink path={path} />
    </div>
  );
}

function SourceText({ setting: { source, variable, set_at, set_by } }: { setting: Setting }) {
  const { t } = useTranslation('config');
  const names = useNames(set_by ? [{ type: 'user', id: set_by }] : []);
  if (source === 'default') return <span>{t('setting.isDefault')}</span>;
  if (source === 'environment') {
    return (
      <span className={classes.lock}>
        <Lock size={12} aria-hidden /> {t('setting.isLocked', { variable })}
      </span>
    );
  }
  const name = set_by && names.get(set_by);
  const time = set_at === null ? '' : dayAndTime(dateOfSeconds(set_at));
  if (!time) return <span>{t('setting.isSet')}</span>;
  return <span>{name ? t('setting.isSetBy', { name, time }) : t('setting.isSetAt', { time })}</span>;
}

/** Another administrator was faster: both values, and the choice. */
function Meanwhile({ setting, drafts }: Properties) {
  const { t } = useTranslation('config');
  return (
    <Alert color="yellow" mt="xs" p="xs" role="alert">
      {t('setting.meanwhile')} <ValueText value={setting.value} />{' '}
      <Anchor component="button" type="button" size="sm" onClick={() => drafts.undo(setting.path)}>
        {t('setting.take')}
      </Anchor>
    </Alert>
  );
}

const SettingHistory = lazy(() => import('./history/SettingHistory.tsx'));

function HistoryLink({ path }: { path: string }) {
  const { t } = useTranslation('config');
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Anchor
        component="button"
        type="button"
        inherit
        aria-label={t('setting.historyOf', { path })}
        onClick={() => setOpen(true)}
      >
        {t('setting.history')}
      </Anchor>
      {isOpen && (
        <Suspense>
          <SettingHistory path={path} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
