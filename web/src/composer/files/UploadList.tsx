import { ActionIcon, Progress, Text } from '@mantine/core';
import { CircleAlert, File, RotateCw, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../base/size.ts';
import classes from './UploadList.module.css';
import type { Upload, useUploads } from './uploads.ts';

/** The files that go with the next message, and how far they are. */
export function UploadList({ uploads }: { uploads: ReturnType<typeof useUploads> }) {
  const { t } = useTranslation('composer');
  if (uploads.list.length === 0) return null;
  return (
    <ul className={classes.list} aria-label={t('upload.files')}>
      {uploads.list.map((one) => (
        <li key={one.key} className={classes.item} data-failed={one.state === 'failed' || undefined}>
          <Preview upload={one} />
          <div className={classes.text}>
            <Text size="sm" truncate title={one.name}>
              <bdi>{one.name}</bdi>
            </Text>
            <State upload={one} />
          </div>
          {one.state === 'failed' && uploads.canRetry(one.key) && (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              aria-label={t('upload.retry', { name: one.name })}
              onClick={() => uploads.retry(one.key)}
            >
              <RotateCw size={14} aria-hidden />
            </ActionIcon>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={t(one.state === 'done' ? 'upload.remove' : 'upload.cancel', { name: one.name })}
            onClick={() => uploads.remove(one.key)}
          >
            <X size={14} aria-hidden />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}

function Preview({ upload: { preview, state } }: { upload: Upload }) {
  if (state === 'failed') return <CircleAlert size={20} className={classes.sign} aria-hidden />;
  if (preview) return <img src={preview} alt="" className={classes.picture} />;
  return <File size={20} className={classes.sign} aria-hidden />;
}

function State({ upload: { name, state, progress, error, size } }: { upload: Upload }) {
  const { t } = useTranslation('composer');
  if (state === 'failed') {
    return (
      <Text size="xs" c="red" role="alert">
        {error}
      </Text>
    );
  }
  if (state === 'done') {
    return (
      <Text size="xs" c="dimmed">
        {sizeText(size)}
      </Text>
    );
  }
  return <Progress size="xs" mt={6} value={progress * 100} aria-label={t('upload.progress', { name })} />;
}
