import { Popover } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './body.module.css';
import { durationOf, type Usage } from './reply.ts';
import { UsageButton } from './UsageButton.tsx';

/** What the reply used, behind its brief form. */
export default function UsageDetail({ usage }: { usage: Usage }) {
  const { t, i18n } = useTranslation('replies');
  const { totalMs, firstTokenMs } = usage;
  const duration = (ms: number | null) => (ms === null ? null : durationOf(ms, i18n.language));
  const rows: [string, string | null][] = [
    ['first', duration(firstTokenMs)],
    ['total', duration(totalMs)],
    ['prompt', usage.promptTokens.toLocaleString(i18n.language)],
    ['cached', usage.cachedTokens > 0 ? usage.cachedTokens.toLocaleString(i18n.language) : null],
    ['completion', usage.completionTokens.toLocaleString(i18n.language)],
    ['finish', usage.finishReason || null],
  ];
  return (
    <Popover defaultOpened position="bottom-start" withinPortal>
      <Popover.Target>
        <UsageButton usage={usage} />
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <dl className={classes.figures}>
          {rows.map(
            ([name, value]) =>
              value !== null && (
                <div key={name}>
                  <dt>{t(`usage.${name}`)}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </Popover.Dropdown>
    </Popover>
  );
}
