import { Badge } from '@mantine/core';
import type { SessionUser } from '@parley/client';
import { useTranslation } from 'react-i18next';

export const ROLES = ['admin', 'user', 'pending'] as const;
export type Role = SessionUser['role'];

const COLORS = { admin: 'accent', user: 'gray', pending: 'yellow' } as const;

export function RoleBadge({ role }: { role: Role }) {
  const { t } = useTranslation('admin');
  return (
    <Badge variant="default" tt="none" fw={500} leftSection={<Dot color={COLORS[role]} />}>
      {t(`roleBadge.${role}`)}
    </Badge>
  );
}

const Dot = ({ color }: { color: string }) => (
  <span
    style={{
      display: 'block',
      width: 8,
      height: 8,
      borderRadius: '50%',
      background: `var(--mantine-color-${color}-filled)`,
    }}
  />
);
