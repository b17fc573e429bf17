import { Kbd, Modal, Stack, Table, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';

const isApple = /Mac|iP(?:hone|ad)/.test(navigator.platform);
const MOD = isApple ? '⌘' : 'Ctrl';

const GROUPS = {
  page: {
    commands: [MOD, 'K'],
    search: [MOD, '⇧', 'F'],
    shortcuts: ['?'],
    previous: ['Alt', '↑'],
    next: ['Alt', '↓'],
    previousUnread: ['Alt', '⇧', '↑'],
    nextUnread: ['Alt', '⇧', '↓'],
    markRead: ['Esc'],
  },
  composer: {
    send: ['Enter'],
    line: ['⇧', 'Enter'],
    editLast: ['↑'],
    mention: ['@'],
    emoji: [':'],
    bold: [MOD, 'B'],
    italic: [MOD, 'I'],
    code: [MOD, 'E'],
  },
};

/** All keys of the page. */
export default function Shortcuts({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('commands');
  return (
    <Modal opened onClose={onClose} title={t('keys.title')} size="md">
      <Stack gap="md">
        {Object.entries(GROUPS).map(([group, keys]) => (
          <section key={group} aria-labelledby={`keys-${group}`}>
            <Title order={3} size="h5" id={`keys-${group}`} mb={4}>
              {t(`keys.group.${group}`)}
            </Title>
            <Table verticalSpacing={6} withRowBorders={false}>
              <Table.Tbody>
                {Object.entries(keys).map(([name, parts]) => (
                  <Table.Tr key={name}>
                    <Table.Th scope="row" fw={400}>
                      {t(`keys.${name}`)}
                    </Table.Th>
                    <Table.Td ta="end">
                      {parts.map((part) => (
                        <Kbd key={part} ml={4}>
                          {part}
                        </Kbd>
                      ))}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </section>
        ))}
      </Stack>
    </Modal>
  );
}
