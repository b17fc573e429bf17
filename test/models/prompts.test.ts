import { describe, expect, it } from 'vitest';
import { fillVariables, type PromptUser } from '../../src/models/prompt.variables.ts';

const user: PromptUser = {
  name: 'Ann',
  email: 'ann@example.com',
  bio: null,
  gender: null,
  date_of_birth: '2000-11-24',
  location: 'Oslo',
  timezone: null,
  groups: ['makers', 'readers'],
  variables: { tone: 'dry' },
};
/** Shortly before midnight of a Sunday in UTC. */
const now = new Date('2026-11-22T23:05:09Z');
const fill = (template: string, members: Partial<PromptUser> = {}, timeZone = 'UTC') =>
  fillVariables(template, { user: { ...user, ...members }, timeZone, now });

describe('the variables of a prompt', () => {
  it.each([
    ['{{USER_NAME}} <{{USER_EMAIL}}>', 'Ann <ann@example.com>'],
    ['{{USER_GROUPS}}, {{USER_LOCATION}}', 'makers, readers, Oslo'],
    ['{{USER_BIRTH_DATE}} {{USER_AGE}}', '2000-11-24 25'],
    ['{{USER_BIO}} {{USER_GENDER}}', 'Unknown Unknown'],
    ['{{CURRENT_DATE}} {{CURRENT_TIME}}', '2026-11-22 11:05:09 PM'],
    ['{{CURRENT_DATETIME}}, {{CURRENT_WEEKDAY}}', '2026-11-22 11:05:09 PM, Sunday'],
    ['{{ USER_NAME }} {{user.variables.tone | text:default=x}}', 'Ann dry'],
    ['{{user.variables.absent}}{{user.variables.constructor}}', ''],
    ['{{UNHEARD_OF}} {{constructor}} {USER_NAME}', '{{UNHEARD_OF}} {{constructor}} {USER_NAME}'],
  ])('%s', (template, filled) => {
    expect(fill(template)).toBe(filled);
  });

  it('tell the time in the zone of the caller, and in UTC where the zone is unknown', () => {
    const template = '{{CURRENT_DATE}} {{CURRENT_TIME}} {{CURRENT_WEEKDAY}} {{CURRENT_TIMEZONE}}';
    expect(fill(template, {}, 'Asia/Tokyo')).toBe('2026-11-23 08:05:09 AM Monday Asia/Tokyo');
    expect(fill(template, {}, 'Mars/Olympus')).toBe('2026-11-22 11:05:09 PM Sunday UTC');
  });

  it('are not read in the values of others', () => {
    const name = '{{USER_EMAIL}} $& {{user.variables.tone}}';
    const variables = { tone: '{{USER_NAME}}' };
    expect(fill('{{USER_NAME}}|{{user.variables.tone}}', { name, variables })).toBe(`${name}|{{USER_NAME}}`);
  });
});
