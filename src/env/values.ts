import { z } from 'zod';

/** `true`, `1`, `yes`, `on` and their opposites, in any case. */
export const flag = z.stringbool({
  truthy: ['true', '1', 'yes', 'on'],
  falsy: ['false', '0', 'no', 'off'],
});

const listBy = (separator: string) =>
  z.string().transform((value) =>
    value
      .split(separator)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  );
export const list = listBy(',');
/** Names of a directory contain commas. */
export const namesList = listBy(';');

export const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 65535')
  .transform(Number)
  .refine((value) => value <= 65_535, 'must be a whole number from 0 to 65535');

export const httpUrl = z
  .string()
  .regex(/^https?:\/\//, 'must begin with https:// or http://')
  .refine((url) => URL.canParse(url), 'must be an address such as https://id.example.com')
  .transform((url) => url.replace(/\/$/, ''));

export const text = z.string().min(1);
/** The name of a claim or attribute. */
export const named = (initial: string) => text.default(initial);
