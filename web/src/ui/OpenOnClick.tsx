import { type ReactNode, type RefObject, Suspense, useLayoutEffect, useRef, useState } from 'react';

interface Properties {
  /** The button alone; `open` is undefined while the overlay is loading. */
  button(open: (() => void) | undefined): ReactNode;
  /** The button with its overlay, which is open at first: a component from `lazy`. */
  children: ReactNode;
}

/** A button whose overlay is loaded at the first click, so that the first view needs no code for overlays. */
export function OpenOnClick({ button, children }: Properties) {
  const frame = useRef<HTMLDivElement>(null);
  const [isWanted, setWanted] = useState(false);
  return (
    <div ref={frame} style={{ display: 'contents' }}>
      {isWanted ? (
        <Suspense fallback={button(undefined)}>
          {children}
          <FocusButton frame={frame} />
        </Suspense>
      ) : (
        button(() => setWanted(true))
      )}
    </div>
  );
}

/** The button is another element once the overlay is loaded. It takes over the focus of the first. */
export function FocusButton({ frame }: { frame: RefObject<HTMLElement | null> }) {
  useLayoutEffect(() => {
    if (document.activeElement === document.body) frame.current?.querySelector('button')?.focus();
  }, [frame]);
  return null;
}
