import type { Scope } from '../core/scope.ts';
import { type PromptUser, readPromptUser } from './prompt.repository.ts';

export type { PromptUser } from './prompt.repository.ts';

export interface Surroundings {
  user: PromptUser;
  /** An IANA name. UTC when it is unknown. */
  timeZone: string;
  now: Date;
}

const VARIABLE = /\{\{\s{0,8}([A-Z_]{1,32}|user\.variables\.[\w.-]{1,64})\s{0,8}(?:\|[^{}]{0,256})?\}\}/g;
const OWN = 'user.variables.';

/** A system prompt with its variables filled. The caller is read only when the prompt has variables. */
export async function fillPrompt(scope: Scope, template: string, timeZone?: string): Promise<string> {
  if (template.search(VARIABLE) < 0) return template;
  const user = await readPromptUser(scope.sql, scope.actor.id);
  if (!user) return template;
  return fillVariables(template, { user, timeZone: timeZone ?? user.timezone ?? 'UTC', now: new Date() });
}

/**
 * Replaces the variables of a template: `{{USER_NAME}}`, `{{CURRENT_DATE}}`, `{{user.variables.key}}`. The template is read once, so
 * a variable in a value stays text. Other names in braces stay as they are.
 */
export function fillVariables(template: string, surroundings: Surroundings): string {
  const values = valuesOf(surroundings);
  const { variables } = surroundings.user;
  return template.replace(VARIABLE, (whole, name: string) => {
    if (!name.startsWith(OWN)) return values[name] ?? whole;
    const key = name.slice(OWN.length);
    return Object.hasOwn(variables, key) ? (variables[key] ?? '') : '';
  });
}

const UNKNOWN = 'Unknown';

function valuesOf({ user, timeZone, now }: Surroundings): Readonly<Record<string, string>> {
  const at = partsOf(now, timeZone);
  const date = `${at.year}-${at.month}-${at.day}`;
  const time = `${at.hour}:${at.minute}:${at.second} ${at.dayPeriod}`;
  return {
    USER_NAME: user.name,
    USER_EMAIL: user.email,
    USER_BIO: user.bio || UNKNOWN,
    USER_GENDER: user.gender || UNKNOWN,
    USER_BIRTH_DATE: user.date_of_birth || UNKNOWN,
    USER_AGE: ageOf(user.date_of_birth, date),
    USER_LOCATION: user.location || UNKNOWN,
    USER_GROUPS: user.groups.join(', ') || 'None',
    USER_LANGUAGE: UNKNOWN,
    CURRENT_DATE: date,
    CURRENT_TIME: time,
    CURRENT_DATETIME: `${date} ${time}`,
    CURRENT_WEEKDAY: at.weekday ?? '',
    CURRENT_TIMEZONE: at.timeZone,
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const twoDigits = '2-digit' as const;
  const format = (zone: string) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h12',
      weekday: 'long',
      year: 'numeric',
      month: twoDigits,
      day: twoDigits,
      hour: twoDigits,
      minute: twoDigits,
      second: twoDigits,
    });
  try {
    return format(timeZone);
  } catch {
    return format('UTC');
  }
}

function partsOf(now: Date, timeZone: string) {
  const format = formatFor(timeZone);
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  return { ...parts, timeZone: format.resolvedOptions().timeZone } as Partial<
    Record<Intl.DateTimeFormatPartTypes, string>
  > & { timeZone: string };
}

/** In whole years. @param today an ISO date */
function ageOf(born: string | null, today: string): string {
  const [, year = '', day = ''] = /^(\d{4})-(\d\d-\d\d)/.exec(born ?? '') ?? [];
  if (year === '') return UNKNOWN;
  const age = Number(today.slice(0, 4)) - Number(year) - (today.slice(5) < day ? 1 : 0);
  return age >= 0 ? String(age) : UNKNOWN;
}
