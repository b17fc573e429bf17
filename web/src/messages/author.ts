import type { Message } from '@parley/client';
import i18next from 'i18next';

export interface Author {
  /** The same for messages that stand in one group. */
  key: string;
  name: string;
  picture: string | null;
  kind: 'person' | 'model' | 'webhook';
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Who speaks: `meta` names a model; for a webhook, `user` is the webhook itself. */
export function authorOf({ user_id, user, meta }: Pick<Message, 'user_id' | 'user' | 'meta'>): Author {
  const modelId = text(meta.model_id);
  if (modelId) {
    return {
      key: `model ${modelId}`,
      name: text(meta.model_name) ?? modelId,
      picture: `/api/v1/models/model/profile/image?id=${encodeURIComponent(modelId)}`,
      kind: 'model',
    };
  }
  const webhook = meta.webhook;
  if (typeof webhook === 'object' && webhook !== null) {
    const id = 'id' in webhook ? text(webhook.id) : null;
    return {
      key: `webhook ${id}`,
      name: user?.name ?? i18next.t('messages:author.webhook'),
      picture: id && `/api/v1/channels/webhooks/${id}/profile/image`,
      kind: 'webhook',
    };
  }
  return {
    key: user_id,
    name: user?.name ?? i18next.t('messages:author.deleted'),
    picture: user && `/api/v1/users/${user_id}/profile/image`,
    kind: 'person',
  };
}
