import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { PICTURE_EXPECTED, picture } from '../core/pictures.ts';
import { emptiable } from '../core/schema/nulls.ts';
import {
  LIMITS,
  label,
  name,
  STRAYING,
  seconds,
  shownName,
  storableWithin,
  text,
  UUID,
} from '../core/wire.ts';

const MOST_TAGS = 100;
const MOST_TOOLS = 200;
const DESCRIPTION_BYTES = 16 * 1024;

/** An id of a model: that of a record, or of a provider model, which may hold slashes and colons. */
export const modelId = () => name().meta({ examples: ['library/llama3:8b'] });

/** The id of a new record. */
export const newModelId = () =>
  modelId()
    .regex(/^\S+$/, 'must not contain white space')
    .refine((id) => id.search(STRAYING) < 0, 'must not contain control characters');

/** The path of the picture of a model; clients send it back. */
const picturePath = (id: string) => `/api/v1/models/model/profile/image?id=${encodeURIComponent(id)}`;
/** What clients of Open WebUI send for a model without a picture. */
const NO_PICTURE = ['/static/favicon.png', '/favicon.png', '/static/splash.png'];
/** Whether it is the path of the picture of a model. */
export const isPathOf = (value: string): boolean =>
  /^\/api\/(v1\/)?models\/model\/profile\/image\?id=[\w.~%!*'()-]*$/.test(value);
const isOwnPath = (value: string) => isPathOf(value) || NO_PICTURE.includes(value);

/** A picture, or a path of this server for the stored one; the empty text for none. */
export const modelPicture = () =>
  z.union([z.string().refine(isOwnPath, PICTURE_EXPECTED), picture(), z.literal('')]);

const OWN_FILE = new RegExp(`^/api/(?:v1/)?files/${UUID}/content$`);
/** Viewers fetch it, so it is a file of this server. */
const ownFile = () =>
  z
    .string()
    .refine((value) => value === '' || OWN_FILE.test(value), 'must be the path of a file of this server');

/** The members of metadata that clients show as pictures. */
export const PICTURES = {
  profile_image_url: modelPicture(),
  background_image_url: ownFile(),
  voice_avatar: ownFile(),
};

/** Known members have their types; others are stored unchanged. */
export const ModelMeta = z
  .looseObject({
    profile_image_url: emptiable(PICTURES.profile_image_url),
    background_image_url: PICTURES.background_image_url.nullish(),
    voice_avatar: PICTURES.voice_avatar.nullish(),
    description: text(DESCRIPTION_BYTES).nullish(),
    tags: z
      .array(z.looseObject({ name: label(64) }))
      .max(MOST_TAGS)
      .nullish(),
    capabilities: z.record(z.string(), z.boolean().nullable()).nullish(),
    toolIds: z.array(name()).max(MOST_TOOLS).nullish(),
    hidden: z.boolean().nullish(),
  })
  .check(storableWithin(2 * LIMITS.freeFormBytes));

export const ModelParams = z
  .looseObject({
    system: text(LIMITS.contentBytes).nullish(),
    custom_params: z.record(z.string(), z.unknown()).nullish(),
  })
  .check(storableWithin(LIMITS.freeFormBytes));

/** What a person says of a model. */
export const modelForm = {
  id: modelId(),
  base_model_id: emptiable(modelId()),
  name: shownName(),
  meta: ModelMeta.default({}),
  params: ModelParams.default({}),
  access_grants: grantList().nullish(),
  is_active: z.boolean().optional(),
  commit_message: label(1024).nullish().describe('What the author says of this version'),
};

const freeForm = z.record(z.string(), z.unknown());
const Person = z.object({ id: z.string(), name: z.string(), role: z.string(), email: z.string() });

/** A record as one of its readers sees it: parameters and grants are empty without the right to change it. */
export const ModelView = z
  .object({
    id: z.string(),
    user_id: z.string(),
    base_model_id: z.string().nullable(),
    name: z.string(),
    params: freeForm,
    meta: freeForm,
    access_grants: z.array(GrantView),
    is_active: z.boolean(),
    version_id: z.string(),
    created_at: seconds(),
    updated_at: seconds(),
    write_access: z.boolean(),
    /** Null when the account is deleted. The address is empty except for administrators and the person itself. */
    user: Person.nullable(),
  })
  .meta({ id: 'ModelRecord' });
export type ModelView = z.infer<typeof ModelView>;

/** The view with the path of its picture. */
export const withPicture = <View extends Pick<ModelView, 'id' | 'meta'>>(view: View): View => ({
  ...view,
  meta: { ...view.meta, profile_image_url: picturePath(view.id) },
});

const Tag = z.object({ name: z.string() });

/** A model that the caller may use. */
export const UsableModel = z
  .object({
    id: z.string(),
    name: z.string(),
    object: z.literal('model'),
    created: seconds(),
    owned_by: z.string(),
    connection_type: z.string(),
    /** In tokens; null when the provider does not say. */
    context_length: z.int().nullable(),
    tags: z.array(Tag),
    /** True for a record with a base. */
    preset: z.literal(true).optional(),
    /** What a record says of it; metadata alone where the configuration has some for all models. */
    info: z
      .object({
        meta: freeForm,
        id: z.string().optional(),
        user_id: z.string().optional(),
        base_model_id: z.string().nullish(),
        name: z.string().optional(),
        is_active: z.boolean().optional(),
        created_at: seconds().optional(),
        updated_at: seconds().optional(),
      })
      .optional(),
  })
  .meta({ id: 'Model' });
export type UsableModel = z.infer<typeof UsableModel>;

/** A model as connections offer it, for administrators. */
export const BaseModel = UsableModel.omit({ preset: true, info: true })
  .extend({
    connections: z.array(z.string()),
    is_on_board: z.boolean(),
    /** As the provider lists it, by the kind of connection. */
    openai: freeForm.optional(),
    ollama: freeForm.optional(),
  })
  .meta({ id: 'BaseModel' });
export type BaseModel = z.infer<typeof BaseModel>;
