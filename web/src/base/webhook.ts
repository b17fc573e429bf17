/** Where a program posts as a webhook. The token is a secret. */
export const addressOf = ({ id, token }: { id: string; token: string }): string =>
  `${window.location.origin}/api/v1/channels/webhooks/${id}/${token}`;
