// Shows notifications of web push while the page is closed. It stores nothing and answers no requests.

const addressOf = ({ channel_id, message_id, parent_id }) => {
  const thread = parent_id ? `&thread=${parent_id}` : '';
  return `/channels/${channel_id}?message=${message_id}${thread}`;
};

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
      if (!open) return self.clients.openWindow(event.notification.data);
      await open.focus();
      await open.navigate(event.notification.data);
    })(),
  );
});
