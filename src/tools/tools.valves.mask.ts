import { MASK } from '../configs/configs.secrets.ts';
import type { UsedTool } from './tools.repository.ts';
import type { CallValves } from './tools.valves.service.ts';

/** Shorter ones are words. */
const SHORTEST_SECRET = 6;

/**
 * What a tool said when it failed, without the valves that it had: an exception quotes the address that was asked, key and all.
 * Choices that a class lists are no secrets, and stay.
 */
export function withoutValves(said: string, tool: UsedTool, { valves, userValves }: CallValves): string {
  const choices = new Set<unknown>();
  JSON.stringify([tool.valves_schema, tool.user_valves_schema], (key, value) => {
    if (key === 'enum' && Array.isArray(value)) for (const choice of value) choices.add(choice);
    return value;
  });
  const secrets: string[] = [];
  JSON.stringify([valves, userValves], (_key, value) => {
    const isSecret = typeof value === 'string' && value.length >= SHORTEST_SECRET && !choices.has(value);
    if (isSecret) secrets.push(...writtenAs(value));
    return value;
  });
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((text, secret) => withoutBeginning(text.replaceAll(secret, MASK), secret), said);
}

/** As it is, in quotes, and in the ways in which libraries put it into addresses. */
function writtenAs(secret: string): string[] {
  const coded = encodeURIComponent(secret);
  const ways = [secret, JSON.stringify(secret).slice(1, -1), coded];
  return [...new Set([...ways, coded.replaceAll('%20', '+'), coded.replaceAll('%2F', '/')])];
}

/** A long text of a tool is cut, and may be so in the middle of a secret. */
function withoutBeginning(text: string, secret: string): string {
  if (!text.endsWith('…')) return text;
  for (let length = Math.min(secret.length, text.length) - 1; length >= SHORTEST_SECRET; length -= 1) {
    const end = `${secret.slice(0, length)}…`;
    if (text.endsWith(end)) return `${text.slice(0, -end.length)}${MASK}…`;
  }
  return text;
}
