import { Group, Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './MessageList.module.css';

const WIDTHS = ['62%', '38%', '74%', '51%', '30%', '66%'];

/** The place of messages while they load. */
export function ListSkeleton() {
  const { t } = useTranslation();
  return (
    <div className={classes.skeleton}>
      <VisuallyHidden>{t('loading')}</VisuallyHidden>
      {WIDTHS.map((width) => (
        <Group key={width} gap="sm" wrap="nowrap" align="flex-start" aria-hidden>
          <Skeleton width={32} height={32} radius="sm" style={{ flex: 'none' }} />
          <Stack gap={8} flex={1}>
            <Skeleton width={120} height={10} />
            <Skeleton width={width} height={10} />
          </Stack>
        </Group>
      ))}
    </div>
  );
}
