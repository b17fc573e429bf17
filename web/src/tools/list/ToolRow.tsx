import { Badge, Group, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import classes from './ToolRow.module.css';

export type Listing = Outputs['tools']['list'][number];

/** A tool of the list: its name, its description, whose it is and who else uses it. */
export function ToolRow({ tool }: { tool: Listing }) {
  const { t } = useTranslation('tools');
  const me = useMe();
  const isMine = tool.user_id === me.id;
  const functions = t('list.functions', { count: tool.specs.length });
  const owner = isMine ? t('list.you') : (tool.user?.name ?? t('deletedAccount'));
  return (
    <li className={classes.row}>
      <Link to="/tools/$toolId" params={{ toolId: tool.id }} className={classes.link}>
        <div className={classes.names}>
          <Group gap="xs" wrap="nowrap">
            <Text fw={600} size="sm" truncate>
              {tool.name}
            </Text>
            <States tool={tool} isMine={isMine} />
          </Group>
          <Text size="sm" c="dimmed" truncate>
            {tool.meta.description || tool.specs.map(({ name }) => name).join(', ')}
          </Text>
        </div>
        <Text size="xs" c="dimmed" className={classes.facts}>
          {functions} · {owner}
          <br />
          {dayAndTime(dateOfSeconds(tool.updated_at))}
        </Text>
      </Link>
    </li>
  );
}

function States({ tool, isMine }: { tool: Listing; isMine: boolean }) {
  const { t } = useTranslation('tools');
  const isPublic = tool.access_grants.some(({ principal_id }) => principal_id === '*');
  const shared = isPublic ? t('list.public') : t('list.withSome');
  const badges = [
    isMine && tool.access_grants.length > 0 ? shared : '',
    !isMine && !tool.write_access ? t('list.readOnly') : '',
    tool.has_user_valves ? t('list.ownValves') : '',
  ].filter((text) => text !== '');
  return badges.map((text) => (
    <Badge key={text} size="sm" variant="light" color="gray" tt="none" fw={500} style={{ flex: 'none' }}>
      {text}
    </Badge>
  ));
}
