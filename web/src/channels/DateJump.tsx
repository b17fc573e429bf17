import { Popover } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { DateButton } from './DateButton.tsx';

const DayPicker = lazy(() => import('./DayPicker.tsx'));

/** Jumps to the first message of a day. */
export default function DateJump({ onPick }: { onPick(ns: number): void }) {
  const [isOpen, setOpen] = useState(true);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <DateButton onClick={() => setOpen(!isOpen)} />
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
