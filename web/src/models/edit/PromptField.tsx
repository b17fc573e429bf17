import { Button, Group, Menu, Textarea } from '@mantine/core';
import { Braces } from 'lucide-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { VARIABLES } from './form.ts';
import type { UseModelForm } from './useModelForm.ts';

/** The system prompt, with a menu of the variables that the server replaces in it. */
export function PromptField({ form }: { form: UseModelForm }) {
  const { t } = useTranslation('models');
  const field = useRef<HTMLTextAreaElement>(null);
  const insert = (variable: string) => {
    const { selectionStart = 0, selectionEnd = 0 } = field.current ?? {};
    const { system } = form.values;
    const words = `{{${variable}}}`;
    form.setFieldValue('system', system.slice(0, selectionStart) + words + system.slice(selectionEnd));
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(selectionStart + words.length, selectionStart + words.length);
    });
  };
  return (
    <div>
      <Textarea
        ref={field}
        label={t('field.system')}
        description={t('field.systemHint')}
        autosize
        minRows={4}
        maxRows={24}
        {...form.getInputProps('system')}
      />
      <Group justify="flex-end" mt={4}>
        <Menu position="bottom-end" returnFocus={false}>
          <Menu.Target>
            <Button
              variant="subtle"
              color="gray"
              size="compact-xs"
              leftSection={<Braces size={14} aria-hidden />}
            >
              {t('field.variable')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown mah={320} style={{ overflowY: 'auto' }}>
            {VARIABLES.map((variable) => (
              <Menu.Item key={variable} onClick={() => insert(variable)}>
                {variable}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      </Group>
    </div>
  );
}
