import { Popover } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { SmilePlus } from 'lucide-react';
import { lazy, type RefObject, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Composer.module.css';
import { insertAtCaret } from './field.ts';
import { Tool } from './Tool.tsx';

const EmojiPicker = lazy(() => import('../ui/emoji/EmojiPicker.tsx'));

/** Inserts an emoji at the caret. */
export default function EmojiTool({ field }: { field: RefObject<HTMLTextAreaElement | null> }) {
  const { t } = useTranslation('composer');
  const [isOpen, { toggle, close }] = useDisclosure(true);
  return (
    <Popover opened={isOpen} onChange={close} position="top-start" trapFocus width={320} shadow="md">
      <Popover.Target>
        <Tool label={t('tool.emoji')} onClick={toggle}>
          <SmilePlus size={16} aria-hidden />
        </Tool>
      </Popover.Target>
      <Popover.Dropdown p={0} className={classes.picker}>
        <Suspense>
          <EmojiPicker
            onPick={(emoji) => {
              close();
              if (field.current) insertAtCaret(field.current, emoji);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
