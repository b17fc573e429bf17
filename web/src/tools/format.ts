import i18next from 'i18next';

const number = (value: number, options: Intl.NumberFormatOptions) =>
  new Intl.NumberFormat(i18next.language, options).format(value);

/** Milliseconds below a second, then seconds. */
export const duration = (ms: number): string =>
  ms < 1000
    ? number(ms, { style: 'unit', unit: 'millisecond', maximumFractionDigits: 0 })
    : number(ms / 1000, { style: 'unit', unit: 'second', maximumFractionDigits: 1 });

export const megabytes = (bytes: number): string =>
  number(bytes / 2 ** 20, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 0 });
