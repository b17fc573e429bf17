import { Group, Text } from '@mantine/core';
import { AnchorTo } from '../../ui/links.tsx';
import { Person } from '../../ui/Person.tsx';

interface Properties {
  person: { id: string; name: string; email: string | null };
}

/** The picture, name and address of an account, with a link to its view. */
export function PersonCell({ person: { id, name, email } }: Properties) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Person id={id} name={name} size={28} />
      <div style={{ minWidth: 0 }}>
        <AnchorTo
          to="/admin/people/$userId"
          params={{ userId: id }}
          size="sm"
          fw={500}
          c="inherit"
          display="block"
        >
          {name}
        </AnchorTo>
        <Text size="xs" c="dimmed" truncate title={email ?? undefined}>
          {email}
        </Text>
      </div>
    </Group>
  );
}
