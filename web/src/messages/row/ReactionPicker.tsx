import { ActionIcon, Popover } from '@mantine/core';
import { SmilePlus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';

const EmojiPicker = lazy(() => import('../../ui/emoji/EmojiPicker.tsx'));

interface Properties {
  size?: number;
  onPick(emoji: string): void;
}

/** Opens the whole list of emoji. */
export function ReactionPicker({ size = 26, onPick }: Properties) {
  const { t } = useTranslation('messages');
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus withinPortal>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={size}
          aria-label={t('action.react')}
          onClick={() => setOpen(!isOpen)}
        >
          <SmilePlus size={size > 30 ? 20 : 15} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <Suspense>
          <EmojiPicker
            onPick={(emoji) => {
              onPick(emoji);
              setOpen(false);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
