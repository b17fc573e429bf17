// Shows notifications of web push while the page is closed. It stores nothing and answers no requests.

const addressOf = ({ channel_id, message_id, parent_id }) => {
  const thread = parent_id ? `&thread=${parent_id}` : '';
  return `/channels/${channel_id}?message=${message_id}${thread}`;
};

// The windows that are open when the worker begins belong to it, too: a click on a notification leads one of them.
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('push', (event) => {
  const message = event.data.json();
  const title = message.channel_name
    ? `${message.author_name} · ${message.channel_name}`
    : message.author_name;
  event.waitUntil(
    self.registration.showNotification(title, {
      body: message.content,
      tag: message.message_id,
      icon: '/favicon.svg',
      data: addressOf(message),
    }),
  );
});

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(
    (async () => {
      const [open] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
      // A window that was open before this worker began cannot be led anywhere.
      const led = await open?.navigate(event.notification.data).catch(() => null);
      await (led ? led.focus() : self.clients.openWindow(event.notification.data));
    })(),
  );
});
