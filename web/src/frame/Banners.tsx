import { Alert, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useConfig } from '../api/session.ts';
import classes from './Banners.module.css';

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
/** A banner that was changed is shown again. */
const keyOf = ({ id, timestamp }: BannerView) => `${id} ${timestamp}`;

/** The notices of the administrators at the top of the workspace. */
export function Banners() {
  const { t } = useTranslation();
  const { banners = [] } = useConfig();
  const [dismissed, setDismissed] = useLocalStorage<string[]>({
    key: 'parley.banners',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const shown = banners.filter((banner) => !banner.dismissible || !dismissed.includes(keyOf(banner)));
  if (shown.length === 0) return null;
  const known = new Set(banners.map(keyOf));
  const dismiss = (banner: BannerView) =>
    setDismissed([...dismissed.filter((key) => known.has(key)), keyOf(banner)]);
  return (
    <section aria-label={t('banners.label')} className={classes.banners}>
      {shown.map((banner) => (
        <BannerNote
          key={banner.id}
          banner={banner}
          {...(banner.dismissible && { onDismiss: () => dismiss(banner) })}
        />
      ))}
    </section>
  );
}

interface NoteProperties {
  banner: BannerView;
  onDismiss?: () => void;
}

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
