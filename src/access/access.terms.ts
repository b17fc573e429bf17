import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

const count = z.int().min(0);

/** What one person may do; 0 is no limit. */
const PersonLimits = z.looseObject({
  messages_per_minute: count,
  uploads_per_hour: count,
  storage_bytes: count,
});

/** Each missing member has its default. */
const Limits = PersonLimits.extend({
  password_min_length: z.int().min(1).max(128),
  signups_per_hour: count,
  failed_signins: count,
  password_changes: count,
  /** The limits of a group's people, by the id of the group. */
  groups: z.record(z.string(), PersonLimits.partial()),
}).partial();

/** 0 is no limit. */
export const DEFAULT_LIMITS = {
  password_min_length: 8,
  signups_per_hour: 60,
  failed_signins: 30,
  password_changes: 5,
  messages_per_minute: 0,
  uploads_per_hour: 0,
  storage_bytes: 0,
  groups: {},
};

export const terms = defineTerms({
  sections: {
    limits: {
      schema: Limits.optional(),
      defaults: DEFAULT_LIMITS,
      settings: {
        password_min_length: server('The fewest characters of a new password; the most are 128'),
        signups_per_hour: server('Sign-ups from one network in an hour; 0: any number'),
        failed_signins: server('Failed sign-ins from one network in three minutes; 0: any number'),
        password_changes: server(
          'Attempts of one account to change its password in three minutes; 0: any number',
        ),
        messages_per_minute: server('Messages and edits of one person in a minute; 0: any number'),
        uploads_per_hour: server('Uploads of one person in an hour; 0: any number'),
        storage_bytes: server(
          'Bytes that the files, messages, tools, models and pictures of one person may take; 0: any number',
        ),
        groups: server(
          'By group id, other values of the last three for its people; the most generous one holds',
        ),
      },
    },
  },
  permissions: { access_grants: { allow_users: true } },
});
