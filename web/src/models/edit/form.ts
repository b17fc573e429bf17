import type { Inputs } from '@parley/client';
import type { ModelRecord } from '../entries.ts';
import { tagsOf } from '../entries.ts';

/** What the editor of a record holds. Members that it does not know stay in `meta` and `params`. */
export interface ModelForm {
  id: string;
  name: string;
  baseId: string | null;
  description: string;
  tags: string[];
  system: string;
  toolIds: string[];
  isActive: boolean;
  /** Null keeps the stored picture, the empty text removes it. */
  picture: string | null;
  /** Numbers of `params` by name; the empty text for unset. */
  numbers: Record<NumberName, number | string>;
  /** The other members of `params` as JSON. */
  others: string;
  hasVision: boolean;
  hasTools: boolean;
  note: string;
}

export const NUMBERS = {
  temperature: { min: 0, max: 2, step: 0.1 },
  top_p: { min: 0, max: 1, step: 0.05 },
  max_tokens: { min: 1, max: 1_000_000, step: 100 },
  seed: { min: 0, max: Number.MAX_SAFE_INTEGER, step: 1 },
} as const;
export type NumberName = keyof typeof NUMBERS;
const NAMES = Object.keys(NUMBERS) as NumberName[];

/** The variables of prompts that the server replaces (docs/models.md). */
export const VARIABLES = [
  ...[
    'USER_NAME',
    'USER_EMAIL',
    'USER_BIO',
    'USER_GENDER',
    'USER_BIRTH_DATE',
    'USER_AGE',
    'USER_LOCATION',
    'USER_GROUPS',
  ],
  ...['CURRENT_DATE', 'CURRENT_TIME', 'CURRENT_DATETIME', 'CURRENT_WEEKDAY', 'CURRENT_TIMEZONE'],
];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];

type Source = Pick<ModelRecord, 'id' | 'name' | 'base_model_id' | 'meta' | 'params' | 'is_active'>;

export function formOf({ id, name, base_model_id, meta, params, is_active }: Source): ModelForm {
  const { system, ...rest } = params;
  const others = Object.fromEntries(Object.entries(rest).filter(([key]) => !(key in NUMBERS)));
  const capabilities = (meta.capabilities ?? {}) as Record<string, unknown>;
  return {
    id,
    name,
    baseId: base_model_id,
    description: text(meta.description),
    tags: tagsOf(meta),
    system: text(system),
    toolIds: texts(meta.toolIds),
    isActive: is_active,
    picture: null,
    numbers: Object.fromEntries(
      NAMES.map((key) => [key, typeof params[key] === 'number' ? params[key] : '']),
    ) as ModelForm['numbers'],
    others: Object.keys(others).length > 0 ? JSON.stringify(others, null, 2) : '',
    hasVision: capabilities.vision !== false,
    hasTools: capabilities.tools !== false,
    note: '',
  };
}

/** The members of a JSON object that the text holds; undefined for other texts. */
export function readOthers(others: string): Record<string, unknown> | undefined {
  if (others.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(others);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What `models.create` and `models.update` take. Stored metadata that the editor does not show stays. */
export function inputOf(form: ModelForm, stored: Record<string, unknown> = {}): Inputs['models']['create'] {
  const numbers = NAMES.flatMap((key) =>
    form.numbers[key] === '' ? [] : [[key, Number(form.numbers[key])]],
  );
  const { profile_image_url: _picture, ...meta } = stored;
  return {
    id: form.id,
    name: form.name,
    base_model_id: form.baseId,
    is_active: form.isActive,
    params: {
      ...readOthers(form.others),
      ...Object.fromEntries(numbers),
      ...(form.system !== '' && { system: form.system }),
    },
    meta: {
      ...meta,
      ...(form.picture !== null && { profile_image_url: form.picture }),
      description: form.description || null,
      tags: form.tags.map((name) => ({ name })),
      toolIds: form.toolIds,
      capabilities: capabilitiesOf(form, (stored.capabilities ?? {}) as Record<string, boolean>),
    },
    ...(form.note && { commit_message: form.note }),
  };
}

/** What is not said of a model stays unsaid: the configuration may have defaults. */
function capabilitiesOf(
  { hasVision, hasTools }: ModelForm,
  stored: Record<string, boolean>,
): Record<string, boolean> {
  const all: Record<string, boolean> = { ...stored, vision: hasVision, tools: hasTools };
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => name in stored || !value));
}

/** An id for a name, such as `travel-agent`. */
export const idOf = (name: string): string =>
  name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}.:_]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
