import { Button, FileButton, Group } from '@mantine/core';
import { showError } from '../../base/errors.ts';
import { scalePicture } from '../../base/picture.ts';

interface Properties {
  chooseLabel: string;
  removeLabel: string;
  /** Shown for a file that is no picture. */
  unreadableText: string;
  canRemove: boolean;
  /** The picture in a `data:` address; empty to remove it. */
  onChange(picture: string): void;
}

/** Choose a picture, or remove it. */
export function PictureButtons({
  chooseLabel,
  removeLabel,
  unreadableText,
  canRemove,
  onChange,
}: Properties) {
  const choose = (file: File | null) => {
    if (file) scalePicture(file).then(onChange, () => showError(new Error(unreadableText)));
  };
  return (
    <Group gap="xs">
      <FileButton onChange={choose} accept="image/png,image/jpeg,image/webp,image/gif">
        {(properties) => (
          <Button variant="default" size="xs" {...properties}>
            {chooseLabel}
          </Button>
        )}
      </FileButton>
      {canRemove && (
        <Button variant="subtle" color="gray" size="xs" onClick={() => onChange('')}>
          {removeLabel}
        </Button>
      )}
    </Group>
  );
}
