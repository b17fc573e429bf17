import { z } from 'zod';
import project from '../../../package.json' with { type: 'json' };
import { AppError } from '../../core/errors.ts';
import { type Actor, derivedScope, type Scope } from '../../core/scope.ts';
import { Visibility, visibilityOf } from '../configs.kept.ts';
import { Banner, DEFAULT_NAME, PromptSuggestion } from '../configs.terms.ts';
import { valueAt } from '../settings/configs.settings.ts';
import { Permissions } from '../settings/permissions.schema.ts';
import { effectivePermissions } from '../settings/permissions.ts';
import { hasAccounts } from './accounts.service.ts';
import {
  Abilities,
  AnonymousFeatures,
  abilities,
  anonymousFeatures,
  MemberFeatures,
  memberFeatures,
} from './configs.features.ts';

/**
 * The part of the configuration that clients need. Every anonymous caller gets the open members. Each is a decision, so
 * `test/configs/client.test.ts` lists them again.
 */
const MemberUi = {
  response_watermark: z.string(),
  default_interface_settings: z.record(z.string(), z.unknown()),
  visibility: Visibility,
  iframe_csp: z.string(),
};
const PENDING_OVERLAY = { pending_user_overlay_title: z.string(), pending_user_overlay_content: z.string() };

export const ClientConfiguration = z
  .object({
    status: z.literal(true),
    name: z.string(),
    /** A path of this server or a data URI; empty for the logo of the client. */
    logo: z.string(),
    /** `#rrggbb`; empty for the colour of the client. */
    color: z.string(),
    version: z.string(),
    default_locale: z.string(),
    /** Translations that an installation adds; there are none yet. */
    i18n: z.record(z.string(), z.unknown()),
    oauth: z.object({ providers: z.record(z.string(), z.string()), auto_redirect: z.literal(false) }),
    /** The members after `enable_websocket` are for admitted accounts. */
    features: AnonymousFeatures.extend(MemberFeatures.partial().shape),
    /** True while no account exists: the first sign-up becomes the administrator. */
    onboarding: z.boolean(),
    /** An account that waits for approval gets only the two members of its overlay. */
    ui: z
      .object({ ...PENDING_OVERLAY, ...MemberUi })
      .partial()
      .optional(),
    // The rest is for admitted accounts.
    default_models: z.string().nullable().optional(),
    default_pinned_models: z.string().nullable().optional(),
    model_order_list: z.array(z.string()).optional(),
    default_prompt_suggestions: z.array(PromptSuggestion).optional(),
    default_prompt_suggestions_i18n: z.record(z.string(), z.unknown()).optional(),
    banners: z.array(Banner).optional(),
    ...Abilities.partial().shape,
    permissions: Permissions.optional(),
  })
  .meta({ id: 'ClientConfiguration' });

export const Version = z.object({ version: z.string(), deployment_id: z.string() }).meta({ id: 'Version' });

/** The running version, and the id of this installation. */
export const describeVersion = ({ configs }: Pick<Scope, 'configs'>): z.infer<typeof Version> => ({
  version: project.version,
  deployment_id: configs.installationId,
});

/** What a client needs at its start: little for anonymous callers, more for members. */
export async function clientConfiguration(scope: Scope<null>): Promise<z.infer<typeof ClientConfiguration>> {
  const { ui, webui } = scope.configs.current;
  const actor = await whoAsks(scope);
  const open = {
    status: true as const,
    name: webui.name ?? DEFAULT_NAME,
    logo: webui.logo ?? '',
    color: webui.color ?? '',
    version: project.version,
    default_locale: ui.default_locale,
    i18n: {},
    oauth: { providers: namesOfProviders(scope), auto_redirect: false as const },
    onboarding: actor === null && !(await hasAccounts(scope.sql)),
    features: anonymousFeatures(scope),
  };
  if (!actor) return open;
  if (actor.role === 'pending') return { ...open, ui: overlay(scope) };
  return {
    ...open,
    ...forMembers(derivedScope(scope, { actor })),
    features: { ...open.features, ...memberFeatures(scope) },
  };
}

/** The texts of the buttons of providers, by the provider's name in `/oauth/{provider}/login`. */
const namesOfProviders = ({ oauth }: Scope<null>): Record<string, string> =>
  Object.fromEntries([...oauth.providers.values()].map(({ id, name }) => [id, name]));

const textAt = (configuration: unknown, path: string): string => {
  const value = valueAt(configuration, path);
  return typeof value === 'string' ? value : '';
};

/** The texts for an account that waits for approval. */
const overlay = ({ configs: { current } }: Pick<Scope, 'configs'>) => ({
  pending_user_overlay_title: textAt(current, 'ui.pending_user_overlay_title'),
  pending_user_overlay_content: textAt(current, 'ui.pending_user_overlay_content'),
});

function forMembers(scope: Scope) {
  const { ui } = scope.configs.current;
  return {
    default_models: ui.default_models,
    default_pinned_models: ui.default_pinned_models,
    model_order_list: ui.model_order_list,
    default_prompt_suggestions: ui.prompt_suggestions,
    default_prompt_suggestions_i18n: {},
    banners: ui.banners,
    ui: {
      ...overlay(scope),
      response_watermark: ui.watermark,
      default_interface_settings: {},
      visibility: visibilityOf(scope.configs.current),
      iframe_csp: '',
    },
    ...abilities(scope),
    permissions: effectivePermissions(scope),
  };
}

/** The caller; null also when the token has expired, because clients build the sign-in page from this answer. */
async function whoAsks(scope: Scope<null>): Promise<Actor | null> {
  try {
    return await scope.identify();
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return null;
    throw error;
  }
}
