import { ActionIcon } from '@mantine/core';
import { Menu } from 'lucide-react';
import { createContext, use } from 'react';
import { useTranslation } from 'react-i18next';

/** Opens the navigation on a narrow screen. */
export const NavigationContext = createContext<(() => void) | null>(null);

/** At the start of each head; a wide screen shows the navigation itself. */
export function MenuButton() {
  const { t } = useTranslation();
  const open = use(NavigationContext);
  if (!open) return null;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      hiddenFrom="sm"
      aria-label={t('nav.open')}
      onClick={open}
    >
      <Menu size={20} aria-hidden />
    </ActionIcon>
  );
}
