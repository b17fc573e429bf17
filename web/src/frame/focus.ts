/** The overlay that contains an element; null for the page below all overlays. */
const layerOf = (element: Element): Element | null => element.closest('[data-portal] > *');

/**
 * Gives the focus back when an overlay goes with the focus in it. Mantine does so only for overlays that were there, closed,
 * before they opened; most of ours are loaded by the click that opens them.
 */
export function keepFocus(): () => void {
  /** The last element with the focus in each layer, the latest last. */
  let latest: HTMLElement[] = [];
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement)) return;
    const layer = layerOf(target);
    latest = [...latest.filter((one) => one.isConnected && layerOf(one) !== layer), target];
  };
  const onRemoved = (removed: Node) => {
    const held = latest.at(-1);
    if (!held || !removed.contains(held) || document.activeElement !== document.body) return;
    latest = latest.filter((one) => one.isConnected);
    const target = latest.at(-1) ?? document.getElementById('content');
    target?.focus({ preventScroll: true });
  };
  // Overlays are children of one element, which the first of them adds to the body.
  const observer = new MutationObserver((records) => {
    for (const { addedNodes, removedNodes } of records) {
      for (const added of addedNodes) {
        if (added instanceof HTMLElement && added.dataset.portal)
          observer.observe(added, { childList: true });
      }
      for (const removed of removedNodes) onRemoved(removed);
    }
  });
  observer.observe(document.body, { childList: true });
  document.addEventListener('focusin', onFocus);
  return () => {
    observer.disconnect();
    document.removeEventListener('focusin', onFocus);
  };
}
