/** The maximum length of the id of a model. */
const ID_CHARACTERS = 256;
/** The maximum of mentions of models in one message. The rest is text. */
const MENTIONS = 100;
/** The maximum of possible ids of one mention: the id is tried with and without its last punctuation. */
const SPELLINGS = 5;

/**
 * A token `<@M:id|label>` (other letters mention other things, and their labels mention nothing), or a bare
 * `@id`. No alternative has a required end, so the time is proportional to the length of the text.
 */
const MENTION =
  /<@(?<kind>[A-Z]):(?<id>[^|<>\s]+)(?:\|[^<>\n]*>)?|(?<![\p{L}\p{N}\p{M}_])@(?<bare>[\p{L}\p{N}][\p{L}\p{N}\p{M}/:._-]*)/gu;
const LAST_PUNCTUATION = /[/:._-]$/;

export interface SpelledModel {
  /** The possible ids, the longest first. */
  spellings: string[];
  /** Whether a token names the model: then there is no other thing that the text may mean. */
  isToken: boolean;
}

/**
 * The models that a text may mention, in its order. The parser does not know which models exist: `@small.`
 * may be `small.` or `small` at the end of a sentence. An `@` after a letter or digit, as in an e-mail
 * address, mentions nothing.
 */
export function parseModelMentions(content: string): SpelledModel[] {
  const found: SpelledModel[] = [];
  if (!content.includes('@')) return found;
  for (const { groups = {} } of content.matchAll(MENTION)) {
    const { kind, id, bare } = groups;
    if (bare !== undefined) {
      if (bare.length <= ID_CHARACTERS) found.push({ spellings: spellingsOf(bare), isToken: false });
    } else if (kind === 'M' && id !== undefined && id.length <= ID_CHARACTERS) {
      found.push({ spellings: [id], isToken: true });
    }
    if (found.length === MENTIONS) break;
  }
  return found;
}

function spellingsOf(bare: string): string[] {
  const spellings = [bare];
  for (let id = bare; LAST_PUNCTUATION.test(id); ) {
    id = id.slice(0, -1);
    if (spellings.length < SPELLINGS) spellings.push(id);
    else spellings[SPELLINGS - 1] = id;
  }
  return spellings;
}

/** The text without a mention of this model at its beginning, as a person addresses it. A text that is only that stays. */
export function withoutAddress(content: string, modelId: string): string {
  const text = content.trimStart();
  const addresses = [`<@M:${modelId}>`, `@${modelId}`];
  const label = text.startsWith(`<@M:${modelId}|`) ? text.slice(0, text.indexOf('>') + 1) : '';
  const address = label || addresses.find((one) => text.startsWith(one));
  const rest = address ? text.slice(address.length) : '';
  return /^[\s,:]+\S/.test(rest) ? rest.replace(/^[\s,:]+/, '') : content;
}

const TOKEN = /<@(?<kind>[A-Z]):(?<id>[^|<>\s]+)(?:\|(?<label>[^<>\n]*))?>/gu;

/** The text with each token replaced by its label, or by its id if it has no label. */
export const withLabels = (content: string): string =>
  content.includes('<@')
    ? content.replace(TOKEN, (_token, _kind, id: string, label: string | undefined) => `@${label || id}`)
    : content;
