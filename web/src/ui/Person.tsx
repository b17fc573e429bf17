import { Avatar, type AvatarProps } from '@mantine/core';

interface Properties extends Omit<AvatarProps, 'src' | 'alt'> {
  id: string;
  name: string;
  /** A picture that is not stored yet; empty for the initials. */
  picture?: string;
}

/** The picture of a person: what they uploaded, or their initials. The name stands beside it, so it is not read out twice. */
export function Person({ id, name, picture, size = 32, ...rest }: Properties) {
  const src = picture ?? `/api/v1/users/${id}/profile/image`;
  return <Avatar src={src || null} alt="" size={size} radius="sm" name={name} color="initials" {...rest} />;
}
