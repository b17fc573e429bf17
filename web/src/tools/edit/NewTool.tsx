import { Button, Group, Text, TextInput } from '@mantine/core';
import { Save } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx';
import { Page } from '../../ui/Page.tsx';
import { NameFields } from './NameFields.tsx';
import { SourceLayout } from './SourceLayout.tsx';
import { idOf } from './template.ts';
import { useNewSource } from './useNewSource.ts';

/** A new tool, which begins with a template, or with the draft that was not saved. */
export function NewTool() {
  const { t } = useTranslation('tools');
  const { source, change, restart, isDirty, id, create, submit } = useNewSource();
  const nameField = useRef<HTMLInputElement>(null);
  const [isAsked, setAsked] = useState(false);
  function store() {
    setAsked(true);
    if (id === '') nameField.current?.focus();
    else submit();
  }
  return (
    <Page title={t('create.title')} wide>
      <SourceLayout
        toolbar={
          <Group gap="xs">
            <Button
              size="xs"
              leftSection={<Save size={14} aria-hidden />}
              loading={create.isPending}
              onClick={store}
            >
              {t('create.submit')}
            </Button>
            {isDirty && (
              <ConfirmButton
                size="xs"
                label={t('create.restart')}
                title={t('edit.discardTitle')}
                confirm={t('create.restart')}
                onConfirm={async () => restart()}
              >
                <Text>{t('create.restartHint')}</Text>
              </ConfirmButton>
            )}
          </Group>
        }
        content={source.content}
        onChange={(content) => change({ content })}
        problem={create.error}
        isSideFirst
        side={
          <>
            <NameFields
              source={source}
              onChange={change}
              nameRef={nameField}
              error={isAsked && id === '' && t('create.nameMissing')}
            />
            <TextInput
              label={t('create.id')}
              description={t('create.idHint')}
              placeholder={idOf(source.name)}
              value={source.id ?? ''}
              onChange={({ currentTarget: { value } }) =>
                change({ id: value.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_') })
              }
            />
          </>
        }
      />
      <LeaveGuard isDirty={isDirty && !create.isSuccess} hint={t('leaveHint')} />
    </Page>
  );
}
