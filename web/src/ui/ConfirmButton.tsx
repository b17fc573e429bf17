import { ActionIcon, Button, type ButtonProps, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, type ReactNode, useState } from 'react';
import { Trans, useTranslation } from 'react-i18next';

interface Question {
  title: string;
  /** What the action does, and what happens to the data. */
  children?: ReactNode;
  /** The words of the button that does it, such as "Delete the account". */
  confirm: string;
  /** The name that must be typed first; for actions that destroy much. */
  typedName?: string;
  /** `mutateAsync` of the mutation: the dialog stays open when it fails. */
  onConfirm(): Promise<unknown>;
}

interface ModalProperties extends Question {
  opened: boolean;
  onClose(): void;
}

interface ButtonProperties extends Question, Omit<ButtonProps, 'children'> {
  /** The words of the button; the name for screen readers where `icon` is given. */
  label: string;
  /** Shows the icon alone. */
  icon?: ReactNode;
}

/** A button whose action needs a confirmation. */
export function ConfirmButton({
  label,
  icon,
  title,
  children,
  confirm,
  typedName,
  onConfirm,
  ...look
}: ButtonProperties) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      {icon ? (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={label}
          title={label}
          disabled={look.disabled}
          onClick={open}
        >
          {icon}
        </ActionIcon>
      ) : (
        <Button variant="default" {...look} onClick={open}>
          {label}
        </Button>
      )}
      <ConfirmModal opened={isOpen} onClose={close} {...{ title, confirm, typedName, onConfirm }}>
        {children}
      </ConfirmModal>
    </>
  );
}

/** The confirmation alone, for entries of menus. */
export function ConfirmModal({ opened, onClose, title, ...rest }: ModalProperties) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} styles={{ title: { fontWeight: 600 } }}>
      <ConfirmForm onClose={onClose} {...rest} />
    </Modal>
  );
}

/** Begins anew each time the dialog opens. */
function ConfirmForm({
  onClose,
  children,
  confirm,
  typedName,
  onConfirm,
}: Omit<ModalProperties, 'opened' | 'title'>) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const [isBusy, setBusy] = useState(false);
  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch {
      // The cache of mutations shows the sentence of the server.
    } finally {
      setBusy(false);
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {children}
        {typedName !== undefined && (
          <TextInput
            label={
              <Trans t={t} i18nKey="confirm.type" values={{ name: typedName }} components={{ b: <b /> }} />
            }
            value={typed}
            autoComplete="off"
            onChange={({ currentTarget: { value } }) => setTyped(value)}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button
            type="submit"
            color="red"
            loading={isBusy}
            disabled={typedName !== undefined && typed.trim() !== typedName.trim()}
            data-autofocus={typedName === undefined || undefined}
          >
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
