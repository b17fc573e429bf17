import { useSuspenseQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';

type Explained = ReturnType<typeof useExplained>['settings'][number];
/** The values may be any JSON; members that are undefined do not come over the wire. */
export type Setting = Omit<Explained, 'value' | 'default'> & { value?: unknown; default?: unknown };

/** What stands for a stored secret. Sent back, it keeps the secret. */
export const MASK = '********';

export const explainQuery = () => trpc.configs.explain.queryOptions();

export const useExplained = () => useSuspenseQuery(explainQuery()).data;

/** The settings with these paths, in this order; those that this server does not have are left out. */
export const pick = (settings: Setting[], paths: string[]): Setting[] =>
  paths.flatMap((path) => settings.find((setting) => setting.path === path) ?? []);

export const sectionOf = ({ path }: Pick<Setting, 'path'>): string => path.split('.', 1)[0] ?? '';

export type Kind = 'flag' | 'choice' | 'number' | 'text' | 'texts' | 'json';

interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  minimum?: number;
  maximum?: number;
}

export const schemaOf = ({ schema }: Pick<Setting, 'schema'>) => schema as JsonSchema;

/** Which field fits a value. A setting that the server does not know has no schema; its value tells. */
export function kindOf({ schema, value }: Pick<Setting, 'schema' | 'value'>): Kind {
  const { type, enum: choices, anyOf, items } = schema as JsonSchema;
  if (choices) return 'choice';
  const types = [...new Set((anyOf ?? [{ type }]).flatMap((one) => one.type ?? typeof value))].filter(
    (one) => one !== 'null',
  );
  if (types.length !== 1) return 'json';
  if (types[0] === 'boolean') return 'flag';
  if (types[0] === 'integer' || types[0] === 'number') return 'number';
  if (types[0] === 'string') return 'text';
  if (types[0] === 'array' && items?.type === 'string') return 'texts';
  return 'json';
}

/** Paths of settings whose editors need the whole width. */
const WIDE = new Set(['ui.banners', 'usage.limits', 'usage.prices', 'ui.model_order_list']);

export const isWideField = (setting: Setting): boolean =>
  WIDE.has(setting.path) || kindOf(setting) === 'json';

/** What a setting does, in the language of the page where it has words for it. */
export function useMeaning({ path, meaning }: Pick<Setting, 'path' | 'meaning'>): string {
  const { t } = useTranslation(['settings', 'admin']);
  const permission = path.startsWith(PERMISSIONS) ? path.slice(PERMISSIONS.length) : null;
  if (permission) {
    return t(`admin:permission.${permission}.label`, { defaultValue: t('permission', { permission }) });
  }
  return t(`meaning.${path}`, { defaultValue: meaning });
}
const PERMISSIONS = 'user.permissions.';
