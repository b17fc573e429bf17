const KEY = 'parley.channel';

/** The channel that this browser showed last. */
export const lastChannel = (): string | null => localStorage.getItem(KEY);

export const rememberChannel = (id: string): void => localStorage.setItem(KEY, id);

export const forgetChannel = (): void => localStorage.removeItem(KEY);
