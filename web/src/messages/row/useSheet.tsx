import { useLongPress } from '@mantine/hooks';
import { lazy, Suspense, useState } from 'react';

const Sheet = lazy(() => import('./Sheet.tsx'));

/** On a phone, a long press opens the actions of a message. */
export function useSheet(id: string) {
  const [isOpen, setOpen] = useState(false);
  const longPress = useLongPress(() => setOpen(true), {
    threshold: 450,
    events: ['touch'],
    cancelOnMove: true,
  });
  const close = () => setOpen(false);
  const sheet = isOpen && (
    <Suspense>
      <Sheet id={id} onClose={close} />
    </Suspense>
  );
  return { sheet, longPress };
}
