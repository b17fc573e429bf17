import { memo, useState } from 'react';
import { type Block, BlocksOfText } from './blocks.ts';
import classes from './Markdown.module.css';
import { renderTokens } from './render.tsx';

interface Properties {
  text: string;
  /** The text still grows: its end may be half of a sentence or a table. */
  isLive?: boolean;
}

/** A formatted text of a person or model. Raw HTML and pictures of other hosts never become elements. */
export const Markdown = memo(function Markdown({ text, isLive = false }: Properties) {
  const [blocks] = useState(() => new BlocksOfText());
  return (
    <div className={classes.markdown} data-live={isLive || undefined}>
      {blocks.read(text, isLive).map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other identity than their place
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
});

const BlockView = memo(
  function BlockView({ block: { source, tokens } }: { block: Block }) {
    return tokens ? renderTokens(tokens) : <p className={classes.typed}>{source}</p>;
  },
  ({ block: before }, { block: after }) =>
    before.source === after.source &&
    before.references === after.references &&
    before.isOpen === after.isOpen &&
    !before.tokens === !after.tokens,
);
