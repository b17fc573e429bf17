import { expect, it } from 'vitest';
import { payloadFor } from '../../src/webhooks/deliveries/deliveries.payload.ts';

const message = {
  content: 'a <!channel> & b',
  author: 'Ann',
  channel_id: 'c1',
  parent_id: null,
  channel_type: null,
  channel_name: 'news',
};
const build = (target: string, change: Partial<typeof message> = {}, webUrl = 'https://chat.example.com/') =>
  payloadFor(new URL(target), { ...message, ...change }, webUrl);
const TITLE = '#news - https://chat.example.com/channels/c1';
const COMMON = {
  action: 'channel',
  message: message.content,
  title: 'news',
  url: 'https://chat.example.com/channels/c1',
};

it('is a text for Slack and Google Chat that cannot mention everyone', () => {
  for (const target of [
    'https://hooks.slack.com/services/T/B/x',
    'https://chat.googleapis.com/v1/spaces/x',
  ]) {
    expect(build(target)).toEqual({ text: `${TITLE}\n\na &lt;!channel&gt; &amp; b` });
  }
});

it('is a content for Discord, cut to its limit', () => {
  const target = 'https://discord.com/api/webhooks/1/x';
  expect(build(target)).toEqual({
    content: `${TITLE}\n\n${message.content}`,
    allowed_mentions: { parse: [] },
  });
  const fits = 'x'.repeat(1_999 - TITLE.length - 2);
  expect(build(target, { content: fits }).content).toBe(`${TITLE}\n\n${fits}`);
  const content = String(build(target, { content: `${fits}x` }).content);
  expect(content).toHaveLength(1_980 + '... (truncated)'.length);
  expect(content.endsWith('x... (truncated)')).toBe(true);
  // The cut is in the middle of a character.
  const split = 'x'.repeat(1_979 - TITLE.length - 2) + '😀'.repeat(20);
  expect(String(build(target, { content: split }).content).isWellFormed()).toBe(true);
});

it('is a card for Teams', () => {
  expect(build('https://acme.webhook.office.com/webhookb2/x')).toMatchObject({
    '@type': 'MessageCard',
    title: TITLE,
    text: message.content,
    sections: [{ facts: [{ name: 'From', value: 'Ann' }] }],
  });
});

it.each([
  'https://example.com/hook',
  'https://hooks.slack.com.evil.example/services/x',
  'https://evil-discord.com/api/webhooks/x',
  'https://example.com/?to=https://hooks.slack.com',
  'https://discord.com/other',
])('is an object with named members for any other target: %s', (target) => {
  expect(build(target)).toEqual(COMMON);
});
