import { useQueries } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import type { AttachmentsProperties } from '../types.ts';
import classes from './Attachments.module.css';
import { type Attachment, attachmentsIn } from './attachment.ts';
import { FileRow } from './FileRow.tsx';

const Lightbox = lazy(() => import('./Lightbox.tsx'));

/** Files do not change. */
const STALE_MS = Number.POSITIVE_INFINITY;

/** The files of a message: pictures in boxes of one height, so that nothing moves when they come, and rows for the others. */
export function Attachments({ files }: AttachmentsProperties) {
  const { t } = useTranslation('composer');
  const attachments = useNamed(attachmentsIn(files));
  const pictures = attachments.filter(({ kind }) => kind === 'picture');
  const others = attachments.filter(({ kind }) => kind !== 'picture');
  const [shown, setShown] = useState<number | null>(null);
  return (
    <>
      {pictures.length > 0 && (
        <div className={classes.pictures}>
          {pictures.map((picture, index) => (
            <button
              key={picture.key}
              type="button"
              className={classes.picture}
              aria-label={t('file.enlarge', { name: picture.name ?? t('file.picture') })}
              onClick={() => setShown(index)}
            >
              <Picture picture={picture} />
            </button>
          ))}
        </div>
      )}
      {others.length > 0 && (
        <ul className={classes.files}>
          {others.map((file) => (
            <FileRow key={file.key} file={file} />
          ))}
        </ul>
      )}
      <Suspense>
        {shown !== null && <Lightbox pictures={pictures} start={shown} onClose={() => setShown(null)} />}
      </Suspense>
    </>
  );
}

/** A picture that is gone, or is none, becomes its name. */
function Picture({ picture }: { picture: Attachment }) {
  const { t } = useTranslation('composer');
  const [isBroken, setBroken] = useState(false);
  const name = picture.name ?? t('file.picture');
  if (isBroken) return <span className={classes.broken}>{t('file.broken', { name })}</span>;
  return (
    <img src={picture.address} alt={name} loading="lazy" decoding="async" onError={() => setBroken(true)} />
  );
}

/** Senders may leave out the name, the type and the size: the server knows them. */
function useNamed(attachments: Attachment[]): Attachment[] {
  const nameless = attachments.flatMap(({ id, name }) => (id && name === null ? [id] : []));
  const found = useQueries({
    queries: nameless.map((id) => trpc.files.get.queryOptions({ id }, { staleTime: STALE_MS, retry: false })),
    combine: (results) => new Map(results.flatMap(({ data }) => (data ? [[data.id, data] as const] : []))),
  });
  return attachments.map((attachment) => {
    const file = attachment.id ? found.get(attachment.id) : undefined;
    if (!file) return attachment;
    const kind = /^image\/(?:png|jpeg|gif|webp|avif)$/.test(file.meta.content_type)
      ? 'picture'
      : attachment.kind;
    return { ...attachment, kind, name: file.filename, size: file.meta.size };
  });
}
