import '@mantine/spotlight/styles.css';
import { createSpotlight, Spotlight } from '@mantine/spotlight';
import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Commands.module.css';
import { type Command, useCommands } from './useCommands.tsx';

const [store, palette] = createSpotlight();

/** Goes to a channel, person, tool or page, or does something, by the first letters of its name. */
export default function Commands({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('commands');
  const [query, setQuery] = useState('');
  const groups = useCommands(query.trim());
  useEffect(() => {
    palette.open();
  }, []);
  const isEmpty = groups.every(({ commands }) => commands.length === 0);
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      maxHeight={420}
      yOffset="12vh"
      overlayProps={{ backgroundOpacity: 0.35, blur: 0 }}
      transitionProps={{ duration: 80 }}
      aria-label={t('title')}
      classNames={{ actionsGroup: classes.group }}
    >
      <Spotlight.Search
        placeholder={t('placeholder')}
        aria-label={t('placeholder')}
        leftSection={<Search size={18} aria-hidden />}
      />
      <Spotlight.ActionsList>
        {groups.map(({ label, commands }) =>
          commands.length === 0 ? null : (
            <Spotlight.ActionsGroup key={label} label={label}>
              {commands.map((command) => (
                <Entry key={command.key} command={command} />
              ))}
            </Spotlight.ActionsGroup>
          ),
        )}
        {isEmpty && <Spotlight.Empty>{t('none')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

const Entry = ({ command: { label, detail, icon, run } }: { command: Command }) => (
  <Spotlight.Action
    label={label}
    {...(detail && { description: detail })}
    leftSection={icon}
    onClick={run}
    mih={36}
    py={6}
  />
);
