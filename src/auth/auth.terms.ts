import { z } from 'zod';
import { parseDuration } from '../core/duration.ts';
import { defineTerms, server } from '../core/terms.ts';

const SHORTEST_MS = 1_000;
const LONGEST_MS = 100 * 365 * 86_400_000;

/**
 * `-1` or `0` for never; otherwise numbers with units, such as `4w` or `1d12h`: in sum between a second and a
 * century.
 */
export const duration = z
  .string()
  .regex(
    /^(-1|0|(\d+(\.\d+)?(ms|s|m|h|d|w))+)$/,
    'must be -1, 0, or numbers with a unit (ms, s, m, h, d, w), such as 4w',
  )
  .refine((text) => {
    const ms = parseDuration(text);
    return ms === null || (ms >= SHORTEST_MS && ms <= LONGEST_MS);
  }, 'must be between one second and a hundred years, or -1');

const flag = z.boolean();

export const terms = defineTerms({
  sections: {
    auth: {
      schema: z.looseObject({
        enable_api_keys: flag,
        api_key: z.looseObject({ endpoint_restrictions: flag, allowed_endpoints: z.string() }),
        jwt_expiry: duration,
        admin: z.looseObject({ show: flag, email: z.string().nullable() }),
      }),
      defaults: {
        enable_api_keys: false,
        api_key: { endpoint_restrictions: false, allowed_endpoints: '' },
        jwt_expiry: '4w',
        admin: { show: true, email: null },
      },
      settings: {
        enable_api_keys: server('API keys may be made and used'),
        'api_key.endpoint_restrictions': server('API keys reach only the endpoints of the list'),
        'api_key.allowed_endpoints': server('Path prefixes that API keys may reach, comma-separated'),
        jwt_expiry: server('How long a sign-in lasts, such as 4w or 12h; -1 for ever'),
        'admin.show': server('An account that waits for approval is shown the address of an administrator'),
        'admin.email': server(
          'The address that such an account is shown; without it, that of the first administrator',
        ),
      },
    },
    oauth: {
      schema: z.looseObject({
        enable_signup: flag,
        merge_accounts_by_email: flag,
        enable_role_mapping: flag,
        enable_group_mapping: flag,
        enable_group_creation: flag,
        update_picture_on_login: flag,
        update_name_on_login: flag,
        update_email_on_login: flag,
        allowed_domains: z.array(z.string()),
      }),
      defaults: {
        enable_signup: false,
        merge_accounts_by_email: false,
        enable_role_mapping: false,
        enable_group_mapping: false,
        enable_group_creation: false,
        update_picture_on_login: false,
        update_name_on_login: false,
        update_email_on_login: false,
        allowed_domains: ['*'],
      },
      settings: {
        enable_signup: server('A first sign-in through a provider makes an account'),
        merge_accounts_by_email: server('A sign-in through a provider finds the account of the same address'),
        enable_role_mapping: server('Roles come from the provider'),
        enable_group_mapping: server('Groups come from the provider'),
        enable_group_creation: server('Groups that the provider names are created when they do not exist'),
        update_picture_on_login: server('The picture is taken from the provider at each sign-in'),
        update_name_on_login: server('The name is taken from the provider at each sign-in'),
        update_email_on_login: server('The address is taken from the provider at each sign-in'),
        allowed_domains: server('Domains of addresses that may sign in through a provider; * for any'),
      },
    },
  },
  permissions: { features: { api_keys: false } },
});
