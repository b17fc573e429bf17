import i18next from 'i18next';

/** Messages and channels have nanoseconds. */
export const dateOfNs = (ns: number): Date => new Date(ns / 1e6);
/** Accounts, tools and keys have seconds. */
export const dateOfSeconds = (seconds: number): Date => new Date(seconds * 1000);

const formats = new Map<string, Intl.DateTimeFormat>();

/** The language of the page in the form of the person's region, as the browser has it: `en-GB`. */
export const regionalLanguage = (): string =>
  navigator.languages.find((tag) => tag.split('-')[0] === i18next.language) ?? i18next.language;

/** Formats in the language of the page. Making an `Intl.DateTimeFormat` costs more than using it. */
export function formatDate(date: Date, options: Intl.DateTimeFormatOptions): string {
  const language = regionalLanguage();
  const key = `${language} ${JSON.stringify(options)}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(language, options);
  formats.set(key, known);
  return known.format(date);
}

export const timeOfDay = (date: Date): string => formatDate(date, { hour: '2-digit', minute: '2-digit' });
export const dayAndTime = (date: Date): string =>
  formatDate(date, { dateStyle: 'medium', timeStyle: 'short' });
export const longDay = (date: Date): string =>
  formatDate(date, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
