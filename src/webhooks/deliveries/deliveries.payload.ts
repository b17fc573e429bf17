import type { DueDelivery } from './deliveries.repository.ts';

type Message = NonNullable<DueDelivery['message']>;

const DISCORD_CHARACTERS = 2_000;
const DISCORD_KEPT = 1_980;

/** Slack and Google Chat read `<…>` as a command, which could mention all users. */
const escapeMarkup = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const isHost = ({ hostname }: URL, host: string) => hostname === host || hostname.endsWith(`.${host}`);

/**
 * The payload for a user's webhook about a message, in the form that the target accepts.
 *
 * @param webUrl the address of the web client; empty if it is not configured
 */
export function payloadFor(target: URL, message: Message, webUrl: string): Record<string, unknown> {
  const url = `${webUrl.replace(/\/+$/, '')}/channels/${message.channel_id}`;
  const title = `#${message.channel_name} - ${url}`;
  if (isTeams(target)) {
    const sections = [{ facts: [{ name: 'From', value: message.author ?? '' }] }];
    return { ...teamsCard(title, message.content), sections };
  }
  const common = { action: 'channel', message: message.content, title: message.channel_name, url };
  return textPayload(target, `${title}\n\n${message.content}`) ?? common;
}

/** A plain text in the form of a chat service; undefined for any other target. */
export function textPayload(target: URL, text: string): Record<string, unknown> | undefined {
  if (isHost(target, 'hooks.slack.com') || isHost(target, 'chat.googleapis.com')) {
    return { text: escapeMarkup(text) };
  }
  if (isDiscord(target)) {
    const content = text.length < DISCORD_CHARACTERS ? text : `${cut(text, DISCORD_KEPT)}... (truncated)`;
    // The text of a message must not mention users of the target.
    return { content, allowed_mentions: { parse: [] } };
  }
  return isTeams(target) ? teamsCard(text, text) : undefined;
}

const isTeams = (target: URL) => isHost(target, 'webhook.office.com');

const teamsCard = (title: string, text: string) => ({
  '@type': 'MessageCard',
  '@context': 'https://schema.org/extensions',
  summary: title,
  title,
  text,
});

const isDiscord = (target: URL) =>
  (isHost(target, 'discord.com') || isHost(target, 'discordapp.com')) &&
  target.pathname.startsWith('/api/webhooks');

/** Never cuts a surrogate pair: half a pair is not valid in JSON for another server. */
const cut = (text: string, length: number) => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
