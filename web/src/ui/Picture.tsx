import { Avatar } from '@mantine/core';

interface Properties {
  /** Null without a picture: the initials of the name stand for it. */
  src: string | null;
  name: string;
  size?: number;
}

/** A picture whose name stands beside it, so that the name is not read out twice. */
export function Picture({ src, name, size = 32 }: Properties) {
  return <Avatar src={src} alt="" size={size} radius="sm" name={name} color="initials" />;
}
