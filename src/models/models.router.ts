import { z } from 'zod';
import { grantList } from '../access/access.schema.ts';
import { administrator, member, router } from '../core/trpc/trpc.ts';
import { label, shownName } from '../core/wire.ts';
import { listBaseModels, listUsableModels, refreshProviders } from './listing/listing.service.ts';
import { BaseModel, ModelView, modelForm, modelId, newModelId, UsableModel } from './models.schema.ts';
import {
  createModel,
  deleteModel,
  getModel,
  toggleModel,
  updateModel,
  updateModelAccess,
} from './models.service.ts';

const byId = z.object({ id: modelId() });

export const modelsRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models',
        tags: ['models'],
        summary: 'List the models that the caller may use',
        description:
          'Provider models and records over them, in the order of `ui.model_order_list`, then by name. A ' +
          'record is listed if the caller may read it and each record on the way to its base. Provider ' +
          'models without a record are listed for administrators, for all members if ' +
          '`models.open_provider_models` is on, and if it is the model on board. The list never waits for ' +
          'a provider, and has neither prompts nor parameters. With `refresh`, for administrators, the ' +
          'providers are asked again in the background.',
      },
      access: 'member',
    })
    .input(z.object({ refresh: z.boolean().default(false) }))
    .output(z.object({ data: z.array(UsableModel) }))
    .query(async ({ ctx, input }) => {
      if (input.refresh) refreshProviders(ctx.scope);
      return { data: await listUsableModels(ctx.scope) };
    }),

  base: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/base',
        tags: ['models'],
        summary: 'List the models that the connections offer',
        description:
          'Without the records over them, with the names of the connections, and with what the provider ' +
          'says of each under `openai` or `ollama`.',
      },
      access: 'administrator',
    })
    .output(z.object({ data: z.array(BaseModel) }))
    .query(({ ctx }) => ({ data: listBaseModels(ctx.scope) })),

  get: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/models/model',
        tags: ['models'],
        summary: 'Get the record of a model',
        description:
          '`params` and `access_grants` are empty unless the caller may change the record. A record that the ' +
          'caller may not read answers as an unknown one: 404 `model_not_found`.',
        errorResponses: [404],
      },
      access: 'model.read',
    })
    .input(byId)
    .output(ModelView)
    .query(({ ctx, input }) => getModel(ctx.scope, input.id)),

  create: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/create',
        tags: ['models'],
        summary: 'Make a record of a model',
        description:
          'With `base_model_id`, a model of its own; without, what this server says of the provider model ' +
          'with this id. Members name a base that they may use; only administrators make records without ' +
          'one, or with the id of a provider model. A taken id answers 400 `id_taken`. Grants follow the ' +
          'rules of `POST /models/model/access/update`.',
      },
      access: 'permission:workspace.models',
    })
    .input(z.object({ ...modelForm, id: newModelId() }))
    .output(ModelView)
    .mutation(({ ctx, input }) => createModel(ctx.scope, input)),

  update: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/model/update',
        tags: ['models'],
        summary: 'Change the record of a model',
        description:
          'Replaces name, metadata and parameters. Base, picture, state and grants stay if they are not ' +
          'sent; null for the base removes it, which is for administrators. Another base must be one that ' +
          'the caller may use. With the `version_id` that the change began from, the answer is 409 ' +
          '`version_conflict` if the record has changed since. Each change is kept as a version: the newest ' +
          '500, of at most 16 MiB together.',
        errorResponses: [404, 409],
      },
      access: 'model.write',
    })
    .input(
      z.object({
        ...modelForm,
        version_id: label(64).nullish().describe('The version that the change began from'),
      }),
    )
    .output(ModelView)
    .mutation(({ ctx, input }) => updateModel(ctx.scope, input)),

  toggle: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/model/toggle',
        tags: ['models'],
        summary: 'Switch a model on or off',
        description:
          'A model that is off can be used by no account, nor can the models over it. A record without a ' +
          'base that is off hides the provider model of its id.',
        errorResponses: [404],
        query: ['id'],
      },
      access: 'model.write',
    })
    .input(byId)
    .output(ModelView)
    .mutation(({ ctx, input }) => toggleModel(ctx.scope, input.id)),

  updateAccess: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/model/access/update',
        tags: ['models'],
        summary: 'Replace the grants of a model',
        description:
          'For a provider model without a record, an administrator makes a record with this `name` by it. ' +
          'A grant to `*` is left out unless the caller has `sharing.public_models`. Other grants that the ' +
          'caller may not give answer 403.',
        errorResponses: [404],
      },
      access: 'model.write',
    })
    .input(z.object({ id: modelId(), name: shownName().nullish(), access_grants: grantList() }))
    .output(ModelView)
    .mutation(({ ctx, input }) => updateModelAccess(ctx.scope, input)),

  delete: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/models/model/delete',
        tags: ['models'],
        summary: 'Delete the record of a model',
        description:
          'With its versions and grants. A provider model of the same id is then one without a record.',
        errorResponses: [404],
      },
      access: 'model.write',
      whenFull: true,
    })
    .input(byId)
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteModel(ctx.scope, input.id)),
});
