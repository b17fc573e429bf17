import { isObject } from '../core/json/json.ts';
import type { ProviderModel } from '../providers/providers.types.ts';
import type { FreeForm } from './models.entity.ts';

/** Parameters that are for this server or its clients: no provider knows them. */
export const SERVER_ONLY: readonly string[] = [
  ...['system', 'custom_params', 'stream_response', 'stream_delta_chunk_size', 'function_calling'],
  ...['reasoning_tags', 'compact_token_threshold', 'tool_approval_mode', 'note_id', 'model_controls'],
];
/**
 * Members by which gateways (OpenRouter, LiteLLM) answer with another model, whose use nothing has checked. An administrator gives them
 * to a connection.
 */
export const OTHER_MODELS: readonly string[] = ['models', 'fallbacks'];
/** Members of a request that a record must not set: its text, its caller, or how many answers it gets. */
const OF_REQUEST = [
  ...['model', 'messages', 'input', 'stream', 'stream_options', 'user'],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'n'],
];
const WITHHELD = new Set([...SERVER_ONLY, ...OTHER_MODELS, ...OF_REQUEST]);

const isSet = (value: unknown) => value !== null && value !== undefined && value !== '';

/** The value of a custom parameter: people type JSON into text fields. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The members of an object with those of later ones over them; what is not set in a later one stays. */
function layered(layers: readonly FreeForm[]): FreeForm {
  const entries = layers.flatMap((layer) => Object.entries(layer).filter(([, value]) => isSet(value)));
  return Object.fromEntries(entries);
}

const customOf = ({ custom_params: custom }: FreeForm): FreeForm =>
  isObject(custom)
    ? Object.fromEntries(Object.entries(custom).map(([name, value]) => [name, parsed(value)]))
    : {};

/** The parameters for a provider. @param layers the defaults first, then the records from the base on */
export function providerParams(layers: readonly FreeForm[]): FreeForm {
  const all = layered(layers.flatMap((layer) => [layer, customOf(layer)]));
  return Object.fromEntries(Object.entries(all).filter(([name]) => !WITHHELD.has(name)));
}

/**
 * The system prompt: those of the records, from the base on; the default where no record has one. A record adds to the prompt of its base
 * and does not replace it, because its author may have no more than the right to use the base.
 */
export function systemOf(defaults: FreeForm, records: readonly FreeForm[]): string | null {
  const promptsOf = (layers: readonly FreeForm[]) =>
    layers.flatMap(({ system }) => (typeof system === 'string' && system !== '' ? [system] : []));
  const prompts = promptsOf(records);
  return (prompts.length > 0 ? prompts : promptsOf([defaults])).join('\n\n') || null;
}

/** Metadata of layers over each other; `capabilities` are merged by their names. */
export function mergeMeta(layers: readonly FreeForm[]): FreeForm {
  const capabilities = layers.flatMap((layer) => (isObject(layer.capabilities) ? [layer.capabilities] : []));
  const merged = layered(layers);
  return capabilities.length > 0 ? { ...merged, capabilities: layered(capabilities) } : merged;
}

export const toolIdsOf = ({ toolIds }: FreeForm): string[] =>
  Array.isArray(toolIds) ? [...new Set(toolIds.filter((id) => typeof id === 'string'))] : [];

/** The model on board can neither see nor call functions; other models can, unless a record says otherwise. */
export function capabilitiesOf({ capabilities }: FreeForm, { isOnBoard }: ProviderModel) {
  const said = isObject(capabilities) ? capabilities : {};
  const can = (name: string) => (typeof said[name] === 'boolean' ? said[name] : !isOnBoard);
  return { vision: can('vision'), tools: can('tools') && can('function_calling') };
}
