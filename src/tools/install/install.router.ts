import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { toolId } from '../../core/wire.ts';
import { ToolInstall } from './install.schema.ts';
import { getInstallation, installForTool } from './install.service.ts';

export const toolInstallRouter = router({
  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/tools/id/{id}/install',
        tags: ['tools'],
        summary: 'Get the state of the packages of a tool',
        description:
          '`state` is `none` if the tool needs no packages, `absent` if this machine has not begun to ' +
          'install them, else `installing`, `ready` or `failed`; `detail` gives the reason of a failure. ' +
          "`log` is the end of the installer's output.",
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId() }))
    .output(ToolInstall)
    .query(({ ctx, input }) => getInstallation(ctx.scope, input.id)),

  start: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/tools/id/{id}/install',
        tags: ['tools'],
        summary: 'Install the packages of a tool',
        description:
          'Loads the current source, and starts the installation of the packages that it asks for, again ' +
          'after a failure. Answers at once with the state; poll `GET /tools/id/{id}/install` for the end. ' +
          'Nothing is done if all packages are installed. The caller also needs the permission ' +
          '`workspace.tools`. 403 means that the setting `tools.install_requirements` is off.',
        errorResponses: [429, 507],
      },
      access: 'tool.write',
    })
    .input(z.object({ id: toolId() }))
    .output(ToolInstall)
    .mutation(({ ctx, input }) => installForTool(ctx.scope, input.id)),
});
