import { useLocalStorage } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useConfig } from '../api/session.ts';
import { BannerNote, type BannerView } from '../ui/BannerNote.tsx';
import classes from './Banners.module.css';

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
