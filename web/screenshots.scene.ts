import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type ParleyClient } from '@parley/client';

/** What the pictures show: people, a channel with a reply of the model on board, and a tool. */
export interface Scene {
  /** The session of the person whose page is shown. */
  token: string;
  channelId: string;
  threadId: string;
  toolId: string;
}

const BASE_MODEL = 'smollm2-135m';
const PASSWORD = 'a long pass phrase';

const TOOL = `"""
title: Dice
description: Rolls dice for games and decisions
version: 1.1
"""

import random


class Tools:
    def roll(self, sides: int = 6, count: int = 1, __user__: dict = {}) -> str:
        """
        Roll one or more dice.

        :param sides: How many sides each of them has
        :param count: How many are rolled
        """
        rolls = [random.randint(1, sides) for _ in range(count)]
        return f"{__user__['name']} rolled {', '.join(map(str, rolls))}"
`;

export async function setScene(url: string): Promise<Scene> {
  const ada = await signUp(url, 'Ada');
  await ada.api.configs.import.mutate({ config: { 'ui.default_user_role': 'user' } });
  const grace = await signUp(url, 'Grace');
  const alan = await signUp(url, 'Alan');
  const everyone = [{ principal_type: 'user' as const, principal_id: '*', permission: 'write' as const }];

  const make = (name: string, description: string) =>
    ada.api.channels.create.mutate({ name, description, access_grants: everyone });
  const general = await make('general', 'Everything that concerns all of us');
  const design = await make('design', 'How things look and read');
  await make('support', 'Questions of people who use the product');
  await grace.api.messages.post.mutate({ id: design.id, content: 'New pictures of the sign-in are here.' });

  const post = async (client: ParleyClient, content: string) =>
    client.api.messages.post.mutate({ id: general.id, content });
  await makeAssistant(ada);
  // The model on board is small: it answers best what one person asks alone.
  const question = await ask(ada, general.id, 'Give me three tips for a good meeting.');
  await post(grace, 'The first one is what we miss. From now on I send the agenda a day before.');
  const first = await post(ada, 'Welcome aboard! This channel is for everything that concerns all of us.');
  await grace.api.reactions.add.mutate({ id: general.id, message_id: first.id, name: '👋' });
  await alan.api.reactions.add.mutate({ id: general.id, message_id: first.id, name: '👋' });
  await post(
    grace,
    'Thank you. The plan for this week:\n\n1. Move the tools over\n2. Invite the support team\n3. **Decide** which models we connect',
  );
  await post(
    alan,
    'I have a first query for the report:\n\n```python\ndef total(rows: list[dict]) -> int:\n    return sum(row["amount"] for row in rows)\n```',
  );
  await ada.api.messages.pin.mutate({ id: general.id, message_id: first.id, is_pinned: true });

  const tool = await ada.api.tools.create.mutate({
    id: 'dice',
    name: 'Dice',
    meta: { description: 'Rolls dice for games and decisions' },
    content: TOOL,
  });
  const { token } = await ada.api.auths.whoAmI.query();
  await Promise.all([ada.close(), grace.close(), alan.close()]);
  return { token, channelId: general.id, threadId: question, toolId: tool.id };
}

async function signUp(url: string, name: string): Promise<ParleyClient> {
  const client = createClient({ url });
  const { token } = await client.api.auths.signUp.mutate({
    name,
    email: `${name.toLowerCase()}@example.com`,
    password: PASSWORD,
  });
  client.setToken(token);
  return client;
}

/** Makes a model over the one on board. Without chance it gives the same answers each time. */
async function makeAssistant({ api }: ParleyClient): Promise<void> {
  const models = async () => (await api.models.list.query({})).data.map(({ id }) => id);
  while (!(await models()).includes(BASE_MODEL)) await delay(500);
  await api.models.create.mutate({
    id: 'assistant',
    base_model_id: BASE_MODEL,
    name: 'Assistant',
    params: { temperature: 0 },
    meta: { description: 'Answers on this machine, for all of us' },
    access_grants: [{ principal_type: 'user', principal_id: '*', permission: 'read' }],
  });
}

/** Asks the assistant, and waits for its answer. */
async function ask({ api }: ParleyClient, id: string, words: string): Promise<string> {
  const content = `<@M:assistant|Assistant> ${words}`;
  const { id: messageId } = await api.messages.post.mutate({ id, content });
  for (;;) {
    const [reply] = await api.messages.thread.query({ id, message_id: messageId });
    if (reply?.meta?.done === true) return messageId;
    await delay(200);
  }
}
