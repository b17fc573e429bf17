import { ActionIcon, FileButton, Loader, Popover, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Bold, Code, Italic, Paperclip, SendHorizontal, SmilePlus } from 'lucide-react';
import { lazy, type ReactNode, type RefObject, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Composer.module.css';
import { insertAtCaret, toggleFormat } from './field.ts';
import type { Compose } from './useCompose.ts';

const EmojiPicker = lazy(() => import('../ui/emoji/EmojiPicker.tsx'));

interface Properties {
  field: RefObject<HTMLTextAreaElement | null>;
  compose: Compose;
}

/** The buttons below the field. */
export function ComposerTools({ field, compose }: Properties) {
  const { t } = useTranslation('composer');
  const format = (name: 'bold' | 'italic' | 'code') => () =>
    field.current && toggleFormat(field.current, name);
  return (
    <div className={classes.tools}>
      {compose.mayUpload && (
        <FileButton multiple onChange={compose.addFiles}>
          {(properties) => (
            <Tool {...properties} label={t('tool.files')}>
              <Paperclip size={16} aria-hidden />
            </Tool>
          )}
        </FileButton>
      )}
      <EmojiTool field={field} />
      <span className={classes.formats}>
        <Tool label={t('tool.bold')} onClick={format('bold')}>
          <Bold size={16} aria-hidden />
        </Tool>
        <Tool label={t('tool.italic')} onClick={format('italic')}>
          <Italic size={16} aria-hidden />
        </Tool>
        <Tool label={t('tool.code')} onClick={format('code')}>
          <Code size={16} aria-hidden />
        </Tool>
      </span>
      <ActionIcon
        className={classes.send}
        size={30}
        disabled={!compose.canSend}
        aria-label={t('send')}
        onClick={() => {
          compose.send();
          field.current?.focus();
        }}
      >
        {compose.isUploading ? <Loader size={14} /> : <SendHorizontal size={16} aria-hidden />}
      </ActionIcon>
    </div>
  );
}

function EmojiTool({ field }: Pick<Properties, 'field'>) {
  const { t } = useTranslation('composer');
  const [isOpen, { toggle, close }] = useDisclosure(false);
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

interface ToolProperties {
  label: string;
  onClick?: () => void;
  children: ReactNode;
}

function Tool({ label, children, ...rest }: ToolProperties) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" size={30} aria-label={label} {...rest}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}
