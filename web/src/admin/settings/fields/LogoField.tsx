import { Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FieldProperties } from '../field.ts';

const SIDE = 128;

/** A picture that is scaled down here and stored with the configuration. */
export default function LogoField({ label, setting, value, onChange, error }: FieldProperties) {
  const { t } = useTranslation('config');
  const [isRefused, setRefused] = useState(false);
  const logo = typeof value === 'string' ? value : '';
  async function take(file: File | null) {
    if (!file) return;
    try {
      onChange(await scaled(file));
      setRefused(false);
    } catch {
      setRefused(true);
    }
  }
  return (
    <Stack gap={4} role="group" aria-label={label}>
      <Group gap="xs">
        <img src={logo || '/favicon.svg'} alt="" width={30} height={30} />
        <FileButton accept="image/png,image/jpeg,image/webp" onChange={(file) => void take(file)}>
          {(properties) => (
            <Button size="xs" variant="default" disabled={setting.locked} {...properties}>
              {t('field.choosePicture')}
            </Button>
          )}
        </FileButton>
        {logo !== '' && (
          <Button
            size="xs"
            variant="subtle"
            color="gray"
            disabled={setting.locked}
            onClick={() => onChange('')}
          >
            {t('field.removePicture')}
          </Button>
        )}
      </Group>
      {(error || isRefused) && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {error ?? t('field.noPicture')}
        </Text>
      )}
    </Stack>
  );
}

/** The whole picture within a square, as a PNG that keeps its transparent ground. */
async function scaled(file: Blob): Promise<string> {
  const picture = await createImageBitmap(file);
  const scale = SIDE / Math.max(picture.width, picture.height);
  const [width, height] = [picture.width * scale, picture.height * scale];
  const canvas = document.createElement('canvas');
  canvas.width = SIDE;
  canvas.height = SIDE;
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('This browser cannot scale pictures.');
  pen.drawImage(picture, (SIDE - width) / 2, (SIDE - height) / 2, width, height);
  picture.close();
  return canvas.toDataURL('image/png');
}
