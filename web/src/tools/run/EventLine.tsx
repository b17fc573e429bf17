import { Anchor, Group, Image, Loader, Spoiler, Text } from '@mantine/core';
import { Check, FileText, Info } from 'lucide-react';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './EventLine.module.css';

type Data = Record<string, unknown>;

const isData = (value: unknown): value is Data => typeof value === 'object' && value !== null;
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** One event of a running function: a status, a text, files, or its JSON. */
export const EventLine = memo(function EventLine({ event }: { event: unknown }) {
  const { type, data } = isData(event) ? event : {};
  const said = isData(data) ? data : {};
  if (type === 'status' && textOf(said.description) !== '')
    return <Line isBusy={said.done === false} text={textOf(said.description)} />;
  if (type === 'notification') return <Line icon="info" text={textOf(said.content)} />;
  if (type === 'message' || type === 'replace') return <Line icon="text" text={textOf(said.content)} />;
  if ((type === 'files' || type === 'chat:message:files') && Array.isArray(said.files))
    return said.files.filter(isData).map((file, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
      <FileLine key={index} file={file} />
    ));
  return <Raw event={event} />;
});

function Line({ isBusy = false, icon = 'done', text }: { isBusy?: boolean; icon?: string; text: string }) {
  const symbols = {
    done: <Check size={14} aria-hidden />,
    info: <Info size={14} aria-hidden />,
    text: <FileText size={14} aria-hidden />,
  };
  const symbol = symbols[icon as keyof typeof symbols];
  return (
    <Group component="li" gap={8} wrap="nowrap" align="start" className={classes.line}>
      <span className={classes.icon}>{isBusy ? <Loader size={12} aria-hidden /> : symbol}</span>
      <Text size="sm" className={classes.text}>
        {text}
      </Text>
    </Group>
  );
}

/** Only files of this server and pictures in the event itself: the page asks no other host. */
function FileLine({ file }: { file: Data }) {
  const { t } = useTranslation('tools');
  const address = textOf(file.url) || (textOf(file.id) && `/api/v1/files/${textOf(file.id)}/content`);
  const isOwn = /^\/api\/v1\/files\/[\w-]+\/content$/.test(address);
  const isInline = /^data:image\/(png|jpeg|gif|webp);base64,/.test(address);
  const name = textOf(file.name) || t('run.file');
  if (!isOwn && !isInline) return <Line icon="text" text={name} />;
  return (
    <li className={classes.line}>
      {(isInline || file.type === 'image') && (
        <Image src={address} alt={name} mah={320} w="auto" maw="100%" fit="contain" radius="sm" />
      )}
      <Anchor href={isOwn ? `${address}?attachment=true` : address} download={name} size="sm">
        {name}
      </Anchor>
    </li>
  );
}

function Raw({ event }: { event: unknown }) {
  const { t } = useTranslation('tools');
  return (
    <li className={classes.line}>
      <Spoiler maxHeight={64} showLabel={t('run.showAll')} hideLabel={t('run.showLess')}>
        <Text component="pre" size="xs" ff="monospace" m={0} className={classes.text}>
          {JSON.stringify(event, null, 2)}
        </Text>
      </Spoiler>
    </li>
  );
}
