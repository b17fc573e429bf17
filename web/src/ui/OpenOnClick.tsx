import { type ReactNode, Suspense, useState } from 'react';

interface Properties {
  /** The button alone; `open` is undefined while the overlay is loading. */
  button(open: (() => void) | undefined): ReactNode;
  /** The button with its overlay, which is open at first: a component from `lazy`. */
  children: ReactNode;
}

/** A button whose overlay is loaded at the first click, so that the first view needs no code for overlays. */
export function OpenOnClick({ button, children }: Properties) {
  const [isWanted, setWanted] = useState(false);
  if (!isWanted) return button(() => setWanted(true));
  return <Suspense fallback={button(undefined)}>{children}</Suspense>;
}
