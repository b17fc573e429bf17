import type { Parts } from '../core/scope.ts';
import type { UserView } from '../users/users.schema.ts';
import { textPayload } from './deliveries/deliveries.payload.ts';

/**
 * Notifies the installation's own webhook (`webhook_url`) of a new account. The sign-up does not wait for the
 * notice; a failure is only logged.
 */
export function announceSignUp(parts: Pick<Parts, 'configs' | 'webhooks' | 'log'>, user: UserView): void {
  const url = parts.configs.current.webhook_url;
  if (url === '') return;
  const message = `New user signed up: ${user.name}`;
  const payload = textPayload(new URL(url), message) ?? {
    action: 'signup',
    message,
    user: JSON.stringify(user, (_name, value: unknown) => value ?? undefined),
  };
  parts.webhooks.deliveries
    .enqueue([{ userId: null, url, payload }])
    .catch((error: unknown) =>
      parts.log.error({ err: error }, 'The notice of a sign-up could not be stored.'),
    );
}
