import type { listUsableModels } from '../../models/listing/listing.service.ts';

type UsableModel = Awaited<ReturnType<typeof listUsableModels>>[number];

/** The latest time that a date can have. */
const LATEST_SECONDS = 8_640_000_000_000;

/** A model as OpenAI lists it, and as Anthropic does (`type`, `display_name`, `created_at`). */
export const toModel = ({ id, name, created, owned_by }: UsableModel) => ({
  id,
  object: 'model',
  created,
  owned_by,
  type: 'model',
  display_name: name,
  created_at: new Date(Math.min(created, LATEST_SECONDS) * 1000).toISOString(),
});
