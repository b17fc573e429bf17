import { Alert, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './BannerNote.module.css';

export interface BannerView {
  id: string;
  /** `info`, `success`, `warning`, `error`; others look like `info`. */
  type: string;
  title?: string | undefined;
  content: string;
  dismissible: boolean;
  timestamp: number;
}

const COLORS: Record<string, string> = { success: 'green', warning: 'yellow', error: 'red' };
interface NoteProperties {
  banner: BannerView;
  onDismiss?: () => void;
}

/** A notice of the administrators. */
export function BannerNote({ banner: { type, title, content }, onDismiss }: NoteProperties) {
  const { t } = useTranslation();
  return (
    <Alert
      className={classes.banner}
      variant="light"
      color={COLORS[type] ?? 'blue'}
      withCloseButton={onDismiss !== undefined}
      closeButtonLabel={t('banners.dismiss')}
      {...(onDismiss && { onClose: onDismiss })}
    >
      <Text size="sm" className={classes.text}>
        {title && <b>{title}</b>} {content}
      </Text>
    </Alert>
  );
}
