import { plainName } from '../core/wire.ts';

const NAME_CHARACTERS = 64;

/*
 * Visible names: emoji as UTS 51 builds them from a base, a skin tone or a style, joined by U+200D; flags;
 * keycaps; and signs of any script with a few marks each. No text matches two of the alternatives, so a name
 * is matched in one way only.
 */
const BASE = /[\p{Emoji}--[\p{ASCII}\p{Emoji_Modifier}\p{RI}]]/v.source;
const STYLED = `${BASE}[\\p{Emoji_Modifier}\\uFE0F]?`;
const EMOJI = `\\p{RI}{2}|[0-9#*]\\uFE0F\\u20E3|\\p{RGI_Emoji_Tag_Sequence}|${STYLED}(?:\\u200D${STYLED})*`;
/** U+2800 is a Braille pattern without a dot. */
const LETTER = /[[\p{L}\p{N}\p{P}\p{S}]--[[\p{Emoji}--\p{ASCII}]\p{Default_Ignorable_Code_Point}\u2800]]/v
  .source;
const MARK = /[\p{M}--\p{Default_Ignorable_Code_Point}]/v.source;
const VISIBLE = new RegExp(`^(?:(?:${EMOJI}|${LETTER}${MARK}{0,4})(?: (?! |$))?)+$`, 'v');

/** The name of a reaction to remove: any name that was ever accepted. */
export const storedReactionName = () => plainName(NAME_CHARACTERS);

/**
 * The name of a reaction: an emoji, or a word for one. Names that look the same are the same, and no name is
 * invisible.
 */
export const reactionName = () =>
  storedReactionName().refine(
    (name) => VISIBLE.test(name),
    'must be an emoji or a word, without control characters, invisible ones or piles of marks',
  );
