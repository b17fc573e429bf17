import { z } from 'zod';
import { member, router } from '../core/trpc/trpc.ts';
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
        summary: "Get the caller's settings",
        description:
          'Whatever clients stored with `POST /users/user/settings/update`; `ui` is always there. ' +
          "`tools.valves` holds the caller's own valves of tools, by tool id, which are stored apart.",
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
        summary: "Change the caller's settings",
        description:
          'The body is the object itself. Its top-level members replace those of the same name; `ui` is ' +
          "merged by its members, of which null removes one. `tools.valves.<tool id>` sets the caller's " +
          'own valves of that tool, with the refusals of `POST /tools/id/{id}/valves/user/update`; ' +
          'valves that were set before a refusal stay set. `ui.notifications.webhook_url` must be an ' +
          'address that this server may call, and `ui.toolServers` is dropped unless the caller has the ' +
          'permission `features.direct_tool_servers`. Answers all settings, at most 256 KiB as JSON; ' +
          'more is refused with 400.',
        errorResponses: [404, 409, 504],
        bodyMember: 'settings',
      },
      access: 'member',
    })
    .input(z.object({ settings: freeForm() }))
    .output(SettingsView)
    .mutation(({ ctx, input }) => updateSettings(ctx.scope, input.settings)),
});
