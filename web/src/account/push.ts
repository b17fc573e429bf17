import { api } from '../api/client.ts';

/** Whether this browser can be notified while the page is closed. Browsers offer it to pages by https and on this machine. */
export const canPush = 'serviceWorker' in navigator && 'PushManager' in window;

/** Asks the browser for a subscription, and gives it to the server. Rejects when the person or the browser refuses. */
export async function startPush(): Promise<void> {
  const { public_key } = await api.push.key.query();
  const registration = await navigator.serviceWorker.register('/sw.js');
  await navigator.serviceWorker.ready;
  // Browsers refuse a second subscription with another key of the server.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: public_key,
  });
  const { endpoint, keys } = subscription.toJSON();
  if (!endpoint || !keys?.p256dh || !keys.auth) throw new Error('The browser gave no keys.');
  await api.push.subscribe.mutate({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } });
}

/** Ends the subscription in this browser. */
export async function stopPush(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration('/sw.js');
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
