import { ActionIcon, Group, Modal } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './Attachments.module.css';
import type { Attachment } from './attachment.ts';

interface Properties {
  pictures: Attachment[];
  start: number;
  onClose(): void;
}

/** The pictures of a message in full size, one at a time. */
export default function Lightbox({ pictures, start, onClose }: Properties) {
  const { t } = useTranslation('composer');
  const [index, setIndex] = useState(start);
  const step = (by: number) => setIndex((index + by + pictures.length) % pictures.length);
  useHotkeys([
    ['ArrowLeft', () => step(-1)],
    ['ArrowRight', () => step(1)],
  ]);
  const picture = pictures[index];
  if (!picture) return null;
  const name = picture.name ?? t('file.picture');
  return (
    <Modal
      opened
      onClose={onClose}
      size="auto"
      centered
      title={<bdi>{name}</bdi>}
      classNames={{ body: classes.lightbox, title: classes.lightboxTitle }}
    >
      <img src={picture.address} alt={name} className={classes.full} />
      <Group justify="center" gap="xs" mt="xs">
        {pictures.length > 1 && (
          <ActionIcon variant="default" size="lg" aria-label={t('file.previous')} onClick={() => step(-1)}>
            <ChevronLeft size={18} aria-hidden />
          </ActionIcon>
        )}
        {picture.id && (
          <ActionIcon
            component="a"
            variant="default"
            size="lg"
            href={`${picture.address}?attachment=true`}
            download=""
            aria-label={t('file.save', { name })}
          >
            <Download size={18} aria-hidden />
          </ActionIcon>
        )}
        {pictures.length > 1 && (
          <ActionIcon variant="default" size="lg" aria-label={t('file.next')} onClick={() => step(1)}>
            <ChevronRight size={18} aria-hidden />
          </ActionIcon>
        )}
      </Group>
    </Modal>
  );
}
