import { Accordion, Badge, Code, Group, Stack, Switch, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Permission, type Tree, usePermissions } from './words.ts';

interface Properties {
  /** The permissions that the switches show; a permission that is missing is off. */
  value: Tree;
  /** All permissions that there are. */
  known: Tree;
  /** What the members have without the group: by the permissions of all accounts, or by the groups above. */
  given?: Tree;
  onChange(next: Tree): void;
}

/** A switch for each permission, with its meaning. Those for other programs are folded away. */
export function PermissionSwitches({ known, ...rest }: Properties) {
  const { t } = useTranslation('admin');
  const permissions = usePermissions(known);
  const own = permissions.filter(({ meaning }) => meaning !== undefined);
  const others = permissions.filter(({ meaning }) => meaning === undefined);
  const sections = [...new Set(own.map(({ section }) => section))];
  return (
    <Stack gap="lg">
      {sections.map((section) => (
        <Stack key={section} gap="sm" role="group" aria-label={t(`permissionSection.${section}`)}>
          <Title order={3} size="sm">
            {t(`permissionSection.${section}`)}
          </Title>
          {own
            .filter((permission) => permission.section === section)
            .map((permission) => (
              <PermissionSwitch key={permission.leaf} permission={permission} {...rest} />
            ))}
        </Stack>
      ))}
      <Accordion variant="contained">
        <Accordion.Item value="others">
          <Accordion.Control>{t('permissions.others', { count: others.length })}</Accordion.Control>
          <Accordion.Panel>
            <Stack gap="xs">
              <Text size="sm" c="dimmed">
                {t('permissions.othersHint')}
              </Text>
              {others.map((permission) => (
                <PermissionSwitch key={permission.label} permission={permission} {...rest} />
              ))}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Stack>
  );
}

interface SwitchProperties extends Omit<Properties, 'known'> {
  permission: Permission;
}

function PermissionSwitch({ permission, value, given, onChange }: SwitchProperties) {
  const { t } = useTranslation('admin');
  const { section, leaf, label, meaning } = permission;
  const isOn = value[section]?.[leaf] ?? false;
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start" justify="space-between">
      <Switch
        size="sm"
        checked={isOn}
        label={meaning ? label : <Code>{label}</Code>}
        description={meaning}
        onChange={({ currentTarget: { checked } }) =>
          onChange({ ...value, [section]: { ...value[section], [leaf]: checked } })
        }
      />
      {given?.[section]?.[leaf] && (
        <Badge variant="light" color="gray" tt="none" fw={500}>
          {t('permissions.given')}
        </Badge>
      )}
    </Group>
  );
}
