import { Avatar, type AvatarProps } from '@mantine/core';

interface Properties extends Omit<AvatarProps, 'src' | 'alt'> {
  id: string;
  name: string;
}

/** The picture of a person: what they uploaded, or their initials. The name stands beside it, so it is not read out twice. */
export function Person({ id, name, size = 32, ...rest }: Properties) {
  return (
    <Avatar
      src={`/api/v1/users/${id}/profile/image`}
      alt=""
      size={size}
      radius="sm"
      name={name}
      color="initials"
      {...rest}
    />
  );
}
