/**
 * In the field a mention reads `@Ada`, in the message `<@U:id|Ada>`. The field remembers which account or model each picked name
 * means; a name that was not picked stays text, which the server reads as a bare `@name`.
 */
export interface Mention {
  /** As the field shows it, without the `@`. */
  label: string;
  /** As the message has it. */
  token: string;
}

/** What ends a token cannot be in its label. */
const labelOf = (name: string): string => name.replaceAll(/[<>|\n]/g, ' ');

export const mentionOfPerson = (id: string, name: string): Mention => ({
  label: labelOf(name),
  token: `<@U:${id}|${labelOf(name)}>`,
});

export const mentionOfModel = (id: string, name: string): Mention => ({
  label: labelOf(name),
  token: `<@M:${id}|${labelOf(name)}>`,
});

/** The mentions with one more. Another account of the same name gets a label that tells them apart. */
export function withMention(mentions: Mention[], next: Mention, detail: string | null): [Mention[], Mention] {
  const same = mentions.find(({ token }) => token === next.token);
  if (same) return [mentions, same];
  const isTaken = (label: string) => mentions.some((mention) => mention.label === label);
  let { label } = next;
  if (isTaken(label) && detail) label = `${label} (${labelOf(detail)})`;
  for (let count = 2; isTaken(label); count += 1) label = `${next.label} (${count})`;
  const added = { ...next, label };
  return [[...mentions, added], added];
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The text as the message has it. */
export function encodeMentions(text: string, mentions: Mention[]): string {
  if (mentions.length === 0) return text;
  // The longest first, so that `@Ada` does not take the beginning of `@Ada Lovelace`.
  const byLabel = new Map(mentions.map(({ label, token }) => [label, token]));
  const labels = [...byLabel.keys()].toSorted((one, other) => other.length - one.length);
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_])@(${labels.map(escaped).join('|')})(?![\\p{L}\\p{N}_])`,
    'gu',
  );
  return text.replaceAll(pattern, (written, label: string) => byLabel.get(label) ?? written);
}

/** As `ui/markdown` reads them: people, models and channels. */
const ANY_TOKEN = /<([@#])[A-Z]:[^|<>\s]+\|([^<>\n]+)>/g;
/** A token has at most this many characters. */
const LONGEST_TOKEN = 600;

/** The beginning of a stored message in one line, with mentions as names. */
export const plainText = (content: string, most = 200): string =>
  content
    .slice(0, most + LONGEST_TOKEN)
    .replaceAll(ANY_TOKEN, '$1$2')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, most);

const TOKEN = /<@([UM]):([^|>\s]+)\|([^<>|\n]+)>/g;

/** The text of a stored message as the field shows it. */
export function decodeMentions(content: string): { text: string; mentions: Mention[] } {
  let mentions: Mention[] = [];
  const text = content.replaceAll(TOKEN, (token, _kind, id: string, name: string) => {
    const [known, mention] = withMention(mentions, { label: name, token }, id);
    mentions = known;
    return `@${mention.label}`;
  });
  return { text, mentions };
}
