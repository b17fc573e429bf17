import { Text, VisuallyHidden } from '@mantine/core';
import { Download, ExternalLink, File } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { sizeText } from '../../base/size.ts';
import classes from './Attachments.module.css';
import type { Attachment } from './attachment.ts';

/** A file that is saved, or a link that opens apart. Names keep their own direction of writing, whatever they hold. */
export function FileRow({ file: { kind, name, size, address } }: { file: Attachment }) {
  const { t } = useTranslation('composer');
  const isLink = kind === 'link';
  const shown = name ?? (isLink ? address : t('file.unnamed'));
  return (
    <li>
      <a
        href={isLink ? address : `${address}?attachment=true`}
        {...(isLink ? { target: '_blank', rel: 'noopener noreferrer nofollow' } : { download: '' })}
        className={classes.file}
        title={shown}
      >
        <VisuallyHidden>{t(isLink ? 'file.openVerb' : 'file.saveVerb')} </VisuallyHidden>
        <File size={18} aria-hidden className={classes.sign} />
        <Text size="sm" component="span" className={classes.name}>
          <bdi>{shown}</bdi>
        </Text>
        {size !== null && size >= 0 && (
          <Text size="xs" c="dimmed" component="span" className={classes.size}>
            {sizeText(size)}
          </Text>
        )}
        {isLink ? <ExternalLink size={15} aria-hidden /> : <Download size={15} aria-hidden />}
      </a>
    </li>
  );
}
