import { z } from 'zod';
import project from '../../package.json' with { type: 'json' };
import { effectivePermissions } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { hasAccounts } from '../users/accounts.ts';
import { Banner, PromptSuggestion } from './configs.schema.ts';
import { Permissions } from './permissions.schema.ts';

/**
 * What a client needs to know of the configuration. Anybody may ask: each member here is a decision, and
 * `test/configs/client.test.ts` has their list once more.
 */
const AnonymousFeatures = z.object({
  auth: z.literal(true),
  auth_trusted_header: z.literal(false),
  enable_signup_password_confirmation: z.literal(false),
  enable_ldap: z.boolean(),
  enable_api_keys: z.boolean(),
  enable_signup: z.boolean(),
  enable_login_form: z.boolean(),
  enable_websocket: z.boolean(),
});

const MemberFeatures = z.object({
  enable_channels: z.boolean(),
  enable_notes: z.boolean(),
  enable_folders: z.boolean(),
  folder_max_file_count: z.string(),
  enable_direct_connections: z.boolean(),
  enable_community_sharing: z.boolean(),
  enable_message_rating: z.boolean(),
  enable_user_webhooks: z.boolean(),
});

export const ClientConfiguration = z
  .object({
    status: z.literal(true),
    name: z.string(),
    version: z.string(),
    default_locale: z.string(),
    oauth: z.object({ providers: z.record(z.string(), z.string()) }),
    /** The members that follow `enable_websocket` are for those who are let in. */
    features: AnonymousFeatures.extend(MemberFeatures.partial().shape),
    /** True when nobody has an account yet: whoever signs up becomes the administrator. */
    onboarding: z.boolean(),
    // The rest is for those who are let in.
    default_models: z.string().nullable().optional(),
    default_pinned_models: z.string().nullable().optional(),
    model_order_list: z.array(z.string()).optional(),
    default_prompt_suggestions: z.array(PromptSuggestion).optional(),
    banners: z.array(Banner).optional(),
    ui: z.object({ response_watermark: z.string() }).optional(),
    permissions: Permissions.optional(),
  })
  .meta({ id: 'ClientConfiguration' });

export const Version = z.object({ version: z.string(), deployment_id: z.string() }).meta({ id: 'Version' });

/** Which version runs, and what tells this installation from others. */
export const describeVersion = ({ configs }: Scope<null>): z.infer<typeof Version> => ({
  version: project.version,
  deployment_id: configs.installationId,
});

/** What a client needs at its start: little for anybody, more for those who are let in. */
export async function clientConfiguration(scope: Scope<null>): Promise<z.infer<typeof ClientConfiguration>> {
  const { ui, auth } = scope.configs.current;
  const actor = await whoAsks(scope);
  const open = {
    status: true as const,
    name: 'Parley',
    version: project.version,
    default_locale: ui.default_locale,
    oauth: { providers: namesOfProviders(scope) },
    onboarding: actor === null && !(await hasAccounts(scope.sql)),
    features: {
      auth: true as const,
      auth_trusted_header: false as const,
      enable_signup_password_confirmation: false as const,
      enable_ldap: scope.directory !== null,
      enable_api_keys: auth.enable_api_keys,
      enable_signup: ui.enable_signup,
      enable_login_form: ui.ENABLE_LOGIN_FORM,
      enable_websocket: scope.configs.hasEventDoors,
    },
  };
  if (!actor || actor.role === 'pending') return open;
  return {
    ...open,
    ...forMembers({ ...scope, actor }),
    features: { ...open.features, ...memberFeatures(scope) },
  };
}

/** What the buttons of providers say, by the provider's place in `/oauth/{provider}/login`. */
const namesOfProviders = ({ oauth }: Scope<null>): Record<string, string> =>
  Object.fromEntries([...oauth.providers.values()].map(({ id, name }) => [id, name]));

function memberFeatures({ configs }: Scope<null>): z.infer<typeof MemberFeatures> {
  const { ui, channels, notes, folders, direct } = configs.current;
  return {
    enable_channels: channels.enable,
    enable_notes: notes.enable,
    enable_folders: folders.enable,
    folder_max_file_count: folders.max_file_count,
    enable_direct_connections: direct.enable,
    enable_community_sharing: ui.enable_community_sharing,
    enable_message_rating: ui.enable_message_rating,
    enable_user_webhooks: ui.enable_user_webhooks,
  };
}

function forMembers(scope: Scope) {
  const { ui } = scope.configs.current;
  return {
    default_models: ui.default_models,
    default_pinned_models: ui.default_pinned_models,
    model_order_list: ui.model_order_list,
    default_prompt_suggestions: ui.prompt_suggestions,
    banners: ui.banners,
    ui: { response_watermark: ui.watermark },
    permissions: effectivePermissions(scope),
  };
}

/** Who calls; nobody also when the token has expired, for then this is what the sign-in page is made from. */
async function whoAsks(scope: Scope<null>): Promise<Actor | null> {
  try {
    return await scope.identify();
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null;
    throw error;
  }
}
