import { z } from 'zod';
import { emptiable } from '../core/nulls.ts';
import { account, member, router } from '../core/trpc.ts';
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
import { imageUrl, personName, UserDetail } from './users.schema.ts';

/** Names alone: an offset says nothing of summers. */
const isTimezone = (name: string): boolean => {
  try {
    return !/^[+-]/.test(new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone);
  } catch {
    return false;
  }
};

const Notes = z.record(z.string(), z.unknown()).nullable();

/** What people keep of themselves. */
export const profileRouter = router({
  whomToAsk: account
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/admin/details',
        tags: ['auths'],
        summary: 'Whom an account that waits may ask for approval',
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
        summary: "Change the caller's name and picture, and what they say of themselves",
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

  updateTimezone: account
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/update/timezone',
        tags: ['auths'],
        summary: "Say where the caller's clock is; shown as `timezone` of their account",
      },
      access: 'account',
    })
    .input(
      z.object({
        timezone: label(64).refine(isTimezone, 'must be the IANA name of a time zone, such as Europe/Berlin'),
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
        summary: "The caller's account, with its status",
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
        summary: 'Say how one is just now; null takes it back, what is missing stays',
      },
      access: 'member',
    })
    .input(
      z.object({
        status_emoji: emptiable(label(64)),
        status_message: emptiable(label()),
        status_expires_at: emptiable(
          seconds()
            .min(0)
            .max(2 ** 31 - 1),
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
        summary: 'What clients keep about the caller',
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
        summary: 'Replace members of what clients keep about the caller; others stay',
        bodyMember: 'info',
      },
      access: 'member',
    })
    .input(z.object({ info: freeForm() }))
    .output(Notes)
    .mutation(({ ctx, input }) => updateNotes(ctx.scope, input.info)),
});
