import { useEffect } from 'react';

/** Mantine puts all overlays into elements at the end of the page. */
const PORTAL = '[data-portal]';
const MOST_PLACES = 20;

/** Where the focus was last, on the page or in one overlay. */
interface Place {
  element: HTMLElement;
  /** Null on the page. */
  overlay: Element | null;
}

/**
 * Gives the focus back to where it was before an overlay that was taken out of the page. Mantine does this only for overlays
 * that stay in it when they are closed. Used once, by the shell.
 */
export function useReturningFocus(): void {
  useEffect(() => {
    const places: Place[] = [];
    const remember = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      const overlay = target.closest(`${PORTAL} > *`);
      if (places.at(-1)?.overlay === overlay) places.pop();
      places.push({ element: target, overlay });
      if (places.length > MOST_PLACES) places.shift();
    };
    const giveBack = () => {
      // Where the page itself had the focus, no overlay took it along.
      if (document.activeElement !== document.body || !places.at(-1)?.overlay) return;
      for (const place of places.toReversed()) {
        const element = inPlaceOf(place);
        if (element) return element.focus();
      }
    };
    const observer = new MutationObserver((changes) => {
      for (const { addedNodes, removedNodes, target } of changes) {
        if (target !== document.body && removedNodes.length > 0) setTimeout(giveBack);
        for (const node of addedNodes) if (node instanceof Element && node.matches(PORTAL)) follow(node);
      }
    });
    const follow = (node: Element) => observer.observe(node, { childList: true });
    follow(document.body);
    for (const portal of document.querySelectorAll(PORTAL)) follow(portal);
    document.addEventListener('focusin', remember);
    return () => {
      observer.disconnect();
      document.removeEventListener('focusin', remember);
    };
  }, []);
}

/** The element, or the equal one that took its place while its overlay was loaded. */
function inPlaceOf({ element, overlay }: Place): HTMLElement | undefined {
  if (element.isConnected) return element;
  if (overlay) return undefined;
  const nameOf = (one: HTMLElement) => one.getAttribute('aria-label') ?? one.textContent;
  const likely = document.querySelectorAll<HTMLElement>(element.tagName);
  return [...likely].find((one) => nameOf(one) === nameOf(element));
}
