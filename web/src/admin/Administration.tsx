import {
  Activity,
  Boxes,
  ChartColumn,
  KeyRound,
  type LucideIcon,
  Palette,
  Plug,
  ScrollText,
  SlidersHorizontal,
  UserRound,
  UsersRound,
  Webhook,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/session.ts';
import { NotFound } from '../routes/RootViews.tsx';
import { Sections } from '../ui/Sections.tsx';

/** The sections in the order of their list. The words are `section.<name>` of `admin.json`. */
const SECTIONS = {
  people: UserRound,
  groups: UsersRound,
  permissions: KeyRound,
  configuration: SlidersHorizontal,
  connections: Plug,
  models: Boxes,
  usage: ChartColumn,
  look: Palette,
  audit: ScrollText,
  webhooks: Webhook,
  state: Activity,
} satisfies Record<string, LucideIcon>;

/** For other people the administration does not exist. The server refuses their calls in any case. */
export function Administration() {
  const { t } = useTranslation('admin');
  const { role } = useMe();
  if (role !== 'admin') return <NotFound />;
  const sections = Object.entries(SECTIONS).map(([name, Icon]) => ({
    to: `/admin/${name}`,
    label: t(`section.${name}`),
    icon: <Icon size={16} aria-hidden />,
  }));
  return <Sections label={t('common:nav.admin')} sections={sections} />;
}
