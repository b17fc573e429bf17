import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AnchorTo } from '../../ui/links.tsx';
import { Picture } from '../../ui/Picture.tsx';
import type { Entry } from '../entries.ts';
import classes from './ModelRow.module.css';
import { TalkButton } from './TalkButton.tsx';

/** A model of the list: its name, what it is for, who offers it, and a button to talk with it. */
export function ModelRow({ entry }: { entry: Entry }) {
  const { t } = useTranslation('models');
  const { id, name, description, picture, offeredBy, isUsable } = entry;
  return (
    <li className={classes.row}>
      <Picture src={picture} name={name} size={36} />
      <div className={classes.names}>
        <Group gap="xs">
          <Name entry={entry} />
          <States entry={entry} />
        </Group>
        <Text size="sm" c="dimmed" lineClamp={2}>
          {description || id}
        </Text>
      </div>
      <Text size="xs" c="dimmed" className={classes.facts}>
        {t('list.offeredBy', { name: offeredBy })}
      </Text>
      {isUsable && <TalkButton model={{ id, name }} />}
    </li>
  );
}

function Name({ entry: { id, name, hasRecord, mayEdit } }: { entry: Entry }) {
  if (!mayEdit) {
    return (
      <Text fw={600} size="sm">
        {name}
      </Text>
    );
  }
  // A model of a provider gets a record when an administrator sets it up.
  return hasRecord ? (
    <AnchorTo to="/models/$modelId" params={{ modelId: id }} fw={600} size="sm" c="inherit">
      {name}
    </AnchorTo>
  ) : (
    <AnchorTo to="/models/new" search={{ id }} fw={600} size="sm" c="inherit">
      {name}
    </AnchorTo>
  );
}

function States({ entry: { isOff, isUsable, tags, mayEdit, hasRecord } }: { entry: Entry }) {
  const { t } = useTranslation('models');
  const states = [
    isOff ? t('list.off') : '',
    !isUsable && !isOff ? t('list.unusable') : '',
    mayEdit && !hasRecord ? t('list.noRecord') : '',
    ...tags,
  ].filter((state) => state !== '');
  return states.map((state) => (
    <Badge key={state} size="sm" variant="light" color="gray" tt="none" fw={500}>
      {state}
    </Badge>
  ));
}
