import { z } from 'zod';
import { emptiable } from '../core/schema/nulls.ts';
import { account, member, router } from '../core/trpc/trpc.ts';
import { freeForm, label, seconds } from '../core/wire.ts';
import { whomToAsk } from './people.service.ts';
import {
  getNotes,
  getStatus,
  updateNotes,
  updateProfile,
  updateStatus,
  updateTimezone,
} from './profile.service.ts';
import { gravatarOf } from './users.picture.ts';
import { emailInput, imageUrl, personName, UserDetail } from './users.schema.ts';

/** Accepts names only: an offset does not define daylight saving time. */
const isTimezone = (name: string): boolean => {
  try {
    return !/^[+-]/.test(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone);
  } catch {
    return false;
  }
};

const Notes = z.record(z.string(), z.unknown()).nullable();

/** Data that people store about themselves. */
export const profileRouter = router({
  whomToAsk: account
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/admin/details',
        tags: ['auths'],
        summary: 'Get whom to ask for approval',
        description:
          'For accounts that are still `pending`. Answers the administrator with the address ' +
          '`auth.admin.email`, or the oldest administrator if that is not set; `name` is null for an ' +
          'address that belongs to no administrator. Refused with 403 where `auth.admin.show` is off.',
      },
      access: 'account',
    })
    .output(z.object({ name: z.string().nullable(), email: z.string() }))
    .query(({ ctx }) => whomToAsk(ctx.scope)),

  update: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/update/profile',
        tags: ['auths'],
        summary: "Change the caller's profile",
        description:
          '`name` and `profile_image_url` are required and replaced. For the other members null ' +
          'empties, and a missing member stays as it is. Answers the whole account; sessions go on.',
      },
      access: 'member',
    })
    .input(
      z.object({
        name: personName(),
        profile_image_url: imageUrl(),
        bio: emptiable(label(4096)),
        gender: emptiable(label(64)),
        date_of_birth: emptiable(z.iso.date()),
      }),
    )
    .output(UserDetail)
    .mutation(({ ctx, input }) => updateProfile(ctx.scope, input)),

  gravatar: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/utils/gravatar',
        tags: ['users'],
        summary: 'Compute the Gravatar address of an e-mail address',
        description:
          'Answers the address as a JSON text: the SHA-256 of the e-mail address, trimmed and in lower case. ' +
          'The server asks nothing of Gravatar and stores nothing. As `profile_image_url` of an account the ' +
          'address is stored; other people see it only where `files.show_external_pictures` is on.',
      },
      access: 'member',
    })
    .input(z.object({ email: emailInput() }))
    .output(z.string())
    .query(({ input }) => gravatarOf(input.email)),

  updateTimezone: account
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/update/timezone',
        tags: ['auths'],
        summary: "Set the caller's time zone",
        description:
          'Stores the time zone, which `GET /users/{id}` shows as `timezone`. A `pending` account may ' +
          'call it.',
      },
      access: 'account',
    })
    .input(
      z.object({
        timezone: label(64)
          .refine(isTimezone, 'must be the IANA name of a time zone, such as Europe/Berlin')
          .describe('The IANA name of a time zone, such as `Europe/Berlin`; no offset'),
      }),
    )
    .output(z.object({ status: z.literal(true) }))
    .mutation(({ ctx, input }) => updateTimezone(ctx.scope, input.timezone)),

  status: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/status',
        tags: ['users'],
        summary: "Get the caller's account with its status",
        description:
          'The members of the status are null once `status_expires_at` has passed. Refused with 403 ' +
          'where `users.enable_status` is off.',
      },
      access: 'member',
    })
    .output(UserDetail)
    .query(({ ctx }) => getStatus(ctx.scope)),

  updateStatus: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/status/update',
        tags: ['users'],
        summary: "Set the caller's status",
        description:
          'Null empties a member, and a missing member stays as it is. Other people see the status ' +
          'until `status_expires_at`; without that time it stays. Answers the whole account. Refused ' +
          'with 403 where `users.enable_status` is off.',
      },
      access: 'member',
    })
    .input(
      z.object({
        status_emoji: emptiable(label(64).describe('An emoji or its short name; not checked')),
        status_message: emptiable(label()),
        status_expires_at: emptiable(
          seconds()
            .min(0)
            .max(2 ** 31 - 1)
            .describe('Unix seconds; null for a status that stays'),
        ),
      }),
    )
    .output(UserDetail)
    .mutation(({ ctx, input }) => updateStatus(ctx.scope, input)),

  notes: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/info',
        tags: ['users'],
        summary: "Get the caller's free-form notes",
        description:
          'Whatever clients stored with `POST /users/user/info/update`; null if nothing was ever ' +
          'stored. No other account can read it here.',
      },
      access: 'member',
    })
    .output(Notes)
    .query(({ ctx }) => getNotes(ctx.scope)),

  updateNotes: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/info/update',
        tags: ['users'],
        summary: "Change the caller's free-form notes",
        description:
          'The body is the object itself. Its top-level members replace those of the same name, and the ' +
          'others stay; a nested object is replaced as a whole. A member cannot be removed, only set to ' +
          'null. Answers all that is stored then, at most 256 KiB as JSON; more is refused with 400.',
        bodyMember: 'info',
      },
      access: 'member',
    })
    .input(z.object({ info: freeForm() }))
    .output(Notes)
    .mutation(({ ctx, input }) => updateNotes(ctx.scope, input.info)),
});
