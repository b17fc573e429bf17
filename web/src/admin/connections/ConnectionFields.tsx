import {
  Accordion,
  Checkbox,
  NumberInput,
  PasswordInput,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core';
import { isParleyError } from '@parley/client';
import { useTranslation } from 'react-i18next';
import { MASK } from '../settings/settings.ts';
import classes from './connections.module.css';
import { type Connection, type ConnectionConfig, hasLostSecrets, type Kind, SECTION } from './connections.ts';
import { Headers } from './Headers.tsx';
import { Parameters } from './Parameters.tsx';

interface Properties {
  value: Connection;
  /** The connection before the edit; null for a new one. */
  stored: Connection | null;
  onChange(value: Connection): void;
  /** Of the last save. */
  error: unknown;
  index: number;
}

/** What most connections need, and the rest folded below it. */
export function ConnectionFields(properties: Properties) {
  const { t } = useTranslation('config');
  const { value, stored, onChange, error, index } = properties;
  const { kind, url, key, config } = value;
  const errorOf = (...names: string[]) => problemOf(error, kind, index, names);
  const change = (changed: Partial<ConnectionConfig>) =>
    onChange({ ...value, config: { ...config, ...changed } });
  const isKeyLost = key === MASK && hasLostSecrets(stored, value);
  return (
    <Stack gap="sm">
      <TextInput
        label={t('connection.name')}
        description={t('connection.nameHint')}
        value={config.name ?? ''}
        maxLength={128}
        error={errorOf('name')}
        onChange={({ currentTarget }) => change({ name: currentTarget.value || null })}
      />
      <TextInput
        label={t('connection.url')}
        description={t(`connection.urlHint.${kind}`)}
        placeholder={kind === 'hosted' ? 'https://api.openai.com/v1' : 'http://127.0.0.1:11434'}
        required
        inputMode="url"
        value={url}
        error={errorOf('api_base_urls', 'base_urls')}
        onChange={({ currentTarget }) => onChange({ ...value, url: currentTarget.value.trim() })}
      />
      <PasswordInput
        label={t('connection.key')}
        description={t(stored?.key ? 'connection.keyStored' : 'connection.keyHint')}
        value={key}
        autoComplete="off"
        error={isKeyLost ? t('connection.keyLost') : errorOf('api_keys', 'key')}
        // A mask cannot be edited, only replaced.
        onFocus={(event) => key === MASK && event.currentTarget.select()}
        visibilityToggleButtonProps={{ 'aria-label': t('connection.keyShow') }}
        onChange={({ currentTarget }) => onChange({ ...value, key: keyFrom(key, currentTarget.value) })}
      />
      <TagsInput
        label={t('connection.models')}
        description={t('connection.modelsHint')}
        value={config.model_ids ?? []}
        splitChars={[',', ' ']}
        error={errorOf('model_ids')}
        onChange={(ids) => change({ model_ids: ids })}
      />
      <Accordion chevronPosition="left" classNames={{ control: classes.fold, content: classes.folded }}>
        <Accordion.Item value="more">
          <Accordion.Control>{t('connection.more')}</Accordion.Control>
          <Accordion.Panel>
            <More {...properties} change={change} errorOf={errorOf} />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Stack>
  );
}

interface MoreProperties extends Properties {
  change(changed: Partial<ConnectionConfig>): void;
  errorOf(...names: string[]): string | undefined;
}

function More({ value, stored, change, errorOf }: MoreProperties) {
  const { t } = useTranslation('config');
  const { config } = value;
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label={t('connection.prefix')}
          description={t('connection.prefixHint')}
          value={config.prefix_id ?? ''}
          error={errorOf('prefix_id')}
          onChange={({ currentTarget }) => change({ prefix_id: currentTarget.value || null })}
        />
        <TagsInput
          label={t('connection.tags')}
          description={t('connection.tagsHint')}
          value={(config.tags ?? []).map((tag) => (typeof tag === 'string' ? tag : tag.name))}
          error={errorOf('tags')}
          onChange={(tags) => change({ tags: tags.map((name) => ({ name })) })}
        />
      </SimpleGrid>
      <Checkbox
        label={t('connection.withoutKey')}
        checked={config.auth_type === 'none'}
        onChange={({ currentTarget }) => change({ auth_type: currentTarget.checked ? 'none' : null })}
      />
      <Headers
        value={config.headers ?? {}}
        isLost={hasLostSecrets(stored, value)}
        error={errorOf('headers')}
        onChange={(headers) => change({ headers })}
      />
      <Parameters
        value={config.extra_params ?? {}}
        error={errorOf('extra_params')}
        onChange={(extra_params) => change({ extra_params: extra_params as Record<string, unknown> })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {LIMITS.map(([name, unset]) => (
          <NumberInput
            key={name}
            label={t(`connection.limit.${name}`)}
            placeholder={unset === null ? t('connection.noLimit') : String(unset)}
            min={1}
            clampBehavior="none"
            value={config[name] ?? ''}
            error={errorOf(name)}
            onChange={(number) => change({ [name]: number === '' ? null : Number(number) })}
          />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

/** The numbers with what the server takes without them. */
const LIMITS = [
  ['concurrency', null],
  ['first_token_seconds', 300],
  ['between_tokens_seconds', 120],
  ['total_seconds', 3600],
] as const;

/** Typing into a mask begins a new key: the mask is no text of a key. */
const keyFrom = (before: string, typed: string) =>
  before === MASK ? typed.replace(MASK, '').replaceAll('*', '') : typed;

/** What the server says of a member of this connection: `hosted_model_api.api_configs.0.prefix_id`. */
function problemOf(error: unknown, kind: Kind, index: number, names: string[]): string | undefined {
  if (!isParleyError(error)) return undefined;
  return error.issues.find(({ path }) => {
    const [section, ...members] = path.split('.');
    return (
      section === SECTION[kind] &&
      members.includes(String(index)) &&
      names.some((name) => members.includes(name))
    );
  })?.message;
}
