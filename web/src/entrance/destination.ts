const KEY = 'parley.destination';

/** Keeps the address to go on to while the browser is at a provider. */
export const keepDestination = (to: string | undefined): void =>
  to === undefined ? sessionStorage.removeItem(KEY) : sessionStorage.setItem(KEY, to);

export function takeDestination(): string | null {
  const to = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return to;
}
