import deData from 'emojibase-data/de/data.json?url';
import deNames from 'emojibase-data/de/messages.json?url';
import enData from 'emojibase-data/en/data.json?url';
import enNames from 'emojibase-data/en/messages.json?url';
import shortcodesUrl from 'emojibase-data/en/shortcodes/github.json?url';
import type { EmojiData, SkinTone } from 'frimousse';

/** The emoji of the Unicode consortium with names in English and German. They load when a person looks for one. */
const FILES: Record<string, { data: string; names: string }> = {
  en: { data: enData, names: enNames },
  de: { data: deData, names: deNames },
};

/** Newer ones are missing in the fonts of systems that are in use. */
const NEWEST_VERSION = 15;
/** Parts of other emoji, such as skin tones. */
const COMPONENTS = 2;

const TONES: Record<string, Exclude<SkinTone, 'none'>> = {
  '1F3FB': 'light',
  '1F3FC': 'medium-light',
  '1F3FD': 'medium',
  '1F3FE': 'medium-dark',
  '1F3FF': 'dark',
};

interface Entry {
  emoji: string;
  hexcode: string;
  label: string;
  group?: number;
  version: number;
  tags?: string[];
  skins?: Entry[];
}

interface Names {
  groups: { message: string; order: number }[];
  skinTones: { key: Exclude<SkinTone, 'none'>; message: string }[];
}

export interface NamedEmoji {
  emoji: string;
  label: string;
  /** Short names, as between colons: `tada`. */
  names: string[];
  tags: string[];
}

const answers = new Map<string, Promise<unknown>>();

/** Reads a file of the page once. */
function read<T>(url: string): Promise<T> {
  const known = answers.get(url) ?? fetch(url).then((response) => response.json());
  answers.set(url, known);
  known.catch(() => answers.delete(url));
  return known as Promise<T>;
}

const filesOf = (language: string) => FILES[language] ?? { data: enData, names: enNames };

const entriesOf = async (language: string): Promise<Entry[]> => {
  const entries = await read<Entry[]>(filesOf(language).data);
  return entries.filter(
    ({ group, version }) => group !== undefined && group !== COMPONENTS && version <= NEWEST_VERSION,
  );
};

/** The emoji in the form of the picker. */
export async function pickerData(language: string): Promise<EmojiData> {
  const [entries, names] = await Promise.all([entriesOf(language), read<Names>(filesOf(language).names)]);
  return {
    locale: language,
    emojis: entries.map(({ emoji, group = 0, label, version, tags = [], skins = [] }) => {
      const toned = skins.flatMap((skin) => (TONES[skin.hexcode.split('-')[1] ?? ''] ? [skin] : []));
      const bySkin = toned.map((skin) => [TONES[skin.hexcode.split('-')[1] ?? ''], skin.emoji]);
      return {
        emoji,
        category: group,
        label,
        version,
        tags,
        ...(toned.length > 0 && { skins: Object.fromEntries(bySkin) }),
      };
    }),
    categories: names.groups
      .filter(({ order }) => order !== COMPONENTS)
      .map(({ message, order }) => ({ index: order, label: message })),
    skinTones: Object.fromEntries(
      names.skinTones.map(({ key, message }) => [key, message]),
    ) as EmojiData['skinTones'],
  };
}

/** All emoji with the names that people type between colons. */
export async function namedEmoji(language: string): Promise<NamedEmoji[]> {
  const [entries, shortcodes] = await Promise.all([
    entriesOf(language),
    read<Record<string, string | string[]>>(shortcodesUrl),
  ]);
  return entries.map(({ emoji, hexcode, label, tags = [] }) => ({
    emoji,
    label,
    names: [shortcodes[hexcode] ?? []].flat(),
    tags,
  }));
}

/** Emoji whose short name, label or tags begin with the text, the best first. */
export function findEmoji(all: NamedEmoji[], query: string, limit: number): NamedEmoji[] {
  const wanted = query.toLowerCase();
  const rank = ({ names, label, tags }: NamedEmoji): number => {
    if (names.includes(wanted)) return 0;
    if (names.some((name) => name.startsWith(wanted))) return 1;
    if (
      label
        .toLowerCase()
        .split(/\W+/)
        .some((word) => word.startsWith(wanted))
    )
      return 2;
    if (tags.some((tag) => tag.startsWith(wanted))) return 3;
    return names.some((name) => name.includes(wanted)) ? 4 : 5;
  };
  return all
    .map((one) => ({ one, rank: rank(one) }))
    .filter((found) => found.rank < 5)
    .toSorted((first, second) => first.rank - second.rank)
    .slice(0, limit)
    .map(({ one }) => one);
}
