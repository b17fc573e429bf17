import { ActionIcon, FileButton, Loader } from '@mantine/core';
import { Bold, Code, Italic, Paperclip, SendHorizontal, SmilePlus } from 'lucide-react';
import { lazy, memo, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { OpenOnClick } from '../ui/OpenOnClick.tsx';
import classes from './Composer.module.css';
import { toggleFormat } from './field.ts';
import { Tool } from './Tool.tsx';
import type { Compose } from './useCompose.ts';

const EmojiTool = lazy(() => import('./EmojiTool.tsx'));

interface Properties {
  field: RefObject<HTMLTextAreaElement | null>;
  compose: Compose;
}

/** The buttons below the field. */
export function ComposerTools({ field, compose }: Properties) {
  const { t } = useTranslation('composer');
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
      <TextTools field={field} />
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

/** What changes the text. They stay as they are while the person types. */
const TextTools = memo(function TextTools({ field }: Pick<Properties, 'field'>) {
  const { t } = useTranslation('composer');
  const format = (name: 'bold' | 'italic' | 'code') => () =>
    field.current && toggleFormat(field.current, name);
  return (
    <>
      <OpenOnClick
        button={(open) => (
          <Tool label={t('tool.emoji')} {...(open && { onClick: open })}>
            <SmilePlus size={16} aria-hidden />
          </Tool>
        )}
      >
        <EmojiTool field={field} />
      </OpenOnClick>
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
    </>
  );
});
