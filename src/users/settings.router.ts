import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { freeForm } from '../core/wire.ts';
import { getSettings, updateSettings } from './settings.service.ts';

const SettingsView = z.looseObject({ ui: z.record(z.string(), z.unknown()) }).meta({
  id: 'UserSettings',
  description:
    'What the clients of a person keep. `ui` is always there; `tools.valves` has the valves that the person set of tools, by tool id.',
});

export const settingsRouter = router({
  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/settings',
        tags: ['users'],
        summary: "The caller's settings",
      },
      access: 'member',
    })
    .output(SettingsView)
    .query(({ ctx }) => getSettings(ctx.scope)),

  update: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/settings/update',
        tags: ['users'],
        summary:
          "Replace members of the caller's settings, and of `ui` in it; others stay, and null removes one of `ui`",
        bodyMember: 'settings',
      },
      access: 'member',
    })
    .input(z.object({ settings: freeForm() }))
    .output(SettingsView)
    .mutation(({ ctx, input }) => updateSettings(ctx.scope, input.settings)),
});
