import { ActionIcon, Popover, Tooltip } from '@mantine/core';
import { CalendarDays } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';

const DayPicker = lazy(() => import('./DayPicker.tsx'));

/** Jumps to the first message of a day. */
export function DateJump({ onPick }: { onPick(ns: number): void }) {
  const { t } = useTranslation('messages');
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <Tooltip label={t('date.label')}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t('date.label')}
            onClick={() => setOpen(!isOpen)}
          >
            <CalendarDays size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <Suspense>
          <DayPicker
            onPick={(ns) => {
              setOpen(false);
              onPick(ns);
            }}
          />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}
