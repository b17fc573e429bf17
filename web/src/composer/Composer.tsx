import { Text, Textarea } from '@mantine/core';
import { useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/session.ts';
import { CompletionList, optionId } from './CompletionList.tsx';
import classes from './Composer.module.css';
import { ComposerTools } from './ComposerTools.tsx';
import { draftKey } from './drafts.ts';
import { FileDrop } from './files/FileDrop.tsx';
import { UploadList } from './files/UploadList.tsx';
import { QuoteNote } from './QuoteNote.tsx';
import type { ComposerProperties } from './types.ts';
import { useCompose } from './useCompose.ts';
import { useComposerKeys } from './useComposerKeys.ts';

const MOST_ROWS = 12;
/** Else a script measures the text at each key press. */
const GROWS = CSS.supports('field-sizing', 'content');

/** Where a person writes a message. Each channel and thread has its own draft. */
export function Composer(properties: ComposerProperties) {
  const { id } = useMe();
  const draft = draftKey(id, properties.channelId, properties.threadId);
  return <Field key={draft} draft={draft} {...properties} />;
}

function Field({ draft, ...properties }: ComposerProperties & { draft: string }) {
  const { t } = useTranslation('composer');
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const compose = useCompose(draft, field, properties);
  const { completions, active, uploads, tooMany } = compose;
  const onKeyDown = useComposerKeys(field, compose, properties);
  const isOpen = completions.length > 0;
  return (
    <FileDrop className={classes.composer} onFiles={compose.addFiles}>
      {isOpen && (
        <CompletionList id={listId} completions={completions} active={active} onPick={compose.pick} />
      )}
      {properties.quote && <QuoteNote quote={properties.quote} onEnd={properties.onQuoteEnd} />}
      <UploadList uploads={uploads} />
      <Textarea
        ref={field}
        data-composer
        dir="auto"
        variant="unstyled"
        aria-label={t(properties.threadId ? 'labelThread' : 'label')}
        placeholder={t(properties.threadId ? 'placeholderThread' : 'placeholder')}
        aria-autocomplete="list"
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen ? optionId(listId, active) : undefined}
        rows={1}
        {...(!GROWS && { autosize: true, minRows: 1, maxRows: MOST_ROWS })}
        classNames={{ input: classes.input }}
        value={compose.text}
        onChange={compose.onChange}
        onSelect={compose.onSelect}
        onBlur={compose.closeList}
        onKeyDown={onKeyDown}
        onPaste={compose.onPaste}
      />
      {tooMany > 0 && (
        <Text size="xs" c="red" px="sm" role="alert">
          {t('tooLong', { count: tooMany })}
        </Text>
      )}
      <ComposerTools field={field} compose={compose} />
    </FileDrop>
  );
}
