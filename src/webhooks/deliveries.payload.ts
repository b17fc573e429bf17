import type { DueDelivery } from './deliveries.repository.ts';

type Message = NonNullable<DueDelivery['message']>;

const DISCORD_CHARACTERS = 2_000;
const DISCORD_KEPT = 1_980;

/** Slack and Google Chat read `<…>` as a command, which could call everybody. */
const escapeMarkup = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const isHost = ({ hostname }: URL, host: string) => hostname === host || hostname.endsWith(`.${host}`);

/**
 * What is sent to a person's webhook about a message, in the form that the target takes.
 *
 * @param webUrl where people open the service; empty when nobody has said so
 */
export function payloadFor(target: URL, message: Message, webUrl: string): Record<string, unknown> {
  const url = `${webUrl.replace(/\/+$/, '')}/channels/${message.channel_id}`;
  const title = `#${message.channel_name} - ${url}`;
  if (isHost(target, 'hooks.slack.com') || isHost(target, 'chat.googleapis.com')) {
    return { text: `${escapeMarkup(title)}\n\n${escapeMarkup(message.content)}` };
  }
  if (isDiscord(target)) {
    const text = `${title}\n\n${message.content}`;
    const content = text.length < DISCORD_CHARACTERS ? text : `${cut(text, DISCORD_KEPT)}... (truncated)`;
    // Nobody is called there by what was written here.
    return { content, allowed_mentions: { parse: [] } };
  }
  if (isHost(target, 'webhook.office.com')) {
    return {
      '@type': 'MessageCard',
      '@context': 'https://schema.org/extensions',
      summary: `#${message.channel_name}`,
      title,
      text: message.content,
      sections: [{ facts: [{ name: 'From', value: message.author ?? '' }] }],
    };
  }
  return { action: 'channel', message: message.content, title: message.channel_name, url };
}

/** A plain text in the form that a chat service takes; undefined for any other target. */
export function textPayload(target: URL, text: string): Record<string, unknown> | undefined {
  if (isHost(target, 'hooks.slack.com') || isHost(target, 'chat.googleapis.com'))
    return { text: escapeMarkup(text) };
  if (isDiscord(target)) return { content: text, allowed_mentions: { parse: [] } };
  if (isHost(target, 'webhook.office.com')) {
    const context = 'https://schema.org/extensions';
    return { '@type': 'MessageCard', '@context': context, summary: text, title: text, text };
  }
  return undefined;
}

const isDiscord = (target: URL) =>
  (isHost(target, 'discord.com') || isHost(target, 'discordapp.com')) &&
  target.pathname.startsWith('/api/webhooks');

/** Never half of a surrogate pair, which JSON for another server must not hold. */
const cut = (text: string, length: number) => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
