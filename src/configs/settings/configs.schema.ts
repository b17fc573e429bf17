import { z } from 'zod';
import { freeForm, LIMITS } from '../../core/wire.ts';
import { type Sections, sections } from './configs.sections.ts';

type Shape = { [Name in keyof Sections]: Sections[Name]['schema'] };
const shape = Object.fromEntries(Object.entries(sections).map(([name, { schema }]) => [name, schema]));

/**
 * The configuration object of the service reference, whole. Every member that the reference lists is required; members
 * that this service does not know are kept, so that an export of another system loses nothing here.
 */
export const Configuration = z
  .looseObject({
    version: z.int().min(0),
    ...(shape as Shape),
  })
  .superRefine((value, context) => {
    for (const { message } of freeForm(LIMITS.bodyBytes).safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: 'custom', message });
    }
  })
  .meta({ id: 'Configuration' });

export type Configuration = z.infer<typeof Configuration>;

/** A stored value that the schema refuses: the default is in force in its place. */
export const ConfigurationFault = z
  .object({
    /** Dotted: a section, or a setting that the configuration need not hold. */
    path: z.string(),
    /** What is wrong with it; the value is not repeated. */
    message: z.string(),
  })
  .meta({ id: 'ConfigurationFault' });
export type ConfigurationFault = z.infer<typeof ConfigurationFault>;
