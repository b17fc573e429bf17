import type { Token } from 'markdown-it';
import { Fragment, memo, type ReactNode } from 'react';
import { CodeBlock } from './CodeBlock.tsx';
import { Picture, SafeLink } from './links.tsx';
import classes from './Markdown.module.css';
import { Mention } from './Mention.tsx';
import { asTyped } from './parser.ts';
import { TableFrame } from './TableFrame.tsx';
import { TaskMark } from './TaskMark.tsx';

/** A token with the tokens up to its closing one. */
interface Node {
  token: Token;
  children: Node[];
}

/** Elements of tokens. Only what stands below becomes an element: all else is text. */
export const renderTokens = (tokens: Token[]): ReactNode[] => nodesOf(tokens).map(elementOf);

function nodesOf(tokens: readonly Token[]): Node[] {
  const roots: Node[] = [];
  const open: Node[] = [];
  for (const token of tokens) {
    if (token.nesting === -1) {
      open.pop();
      continue;
    }
    const node = { token, children: token.children ? nodesOf(token.children) : [] };
    (open.at(-1)?.children ?? roots).push(node);
    if (token.nesting === 1) open.push(node);
  }
  return roots;
}

type Render = (token: Token, children: ReactNode[], node: Node) => ReactNode;

const attribute = (token: Token, name: string): string => String(token.attrGet(name) ?? '');

/** The columns of a table; `style` is `text-align:…`. */
const cell =
  (Tag: 'td' | 'th'): Render =>
  (token, children) => <Tag data-align={attribute(token, 'style').split(':')[1]}>{children}</Tag>;

const RENDERS: Record<string, Render> = {
  inline: (_token, children) => children,
  paragraph_open: ({ hidden }, children) => (hidden ? children : <p>{children}</p>),
  heading_open: ({ tag }, children) => <Heading level={Number(tag.slice(1))}>{children}</Heading>,
  blockquote_open: (_token, children) => <blockquote>{children}</blockquote>,
  bullet_list_open: (_token, _children, node) => <ul>{items(node)}</ul>,
  ordered_list_open: (token, _children, node) => (
    <ol start={Number(token.attrGet('start') ?? 1)}>{items(node)}</ol>
  ),
  table_open: (_token, children) => <TableFrame>{children}</TableFrame>,
  thead_open: (_token, children) => <thead>{children}</thead>,
  tbody_open: (_token, children) => <tbody>{children}</tbody>,
  tr_open: (_token, _children, node) => <Row node={node} />,
  th_open: cell('th'),
  td_open: cell('td'),
  hr: () => <hr />,
  fence: ({ content, info }) => (
    <CodeBlock code={asTyped(content)} language={info.trim().split(/\s/)[0] ?? ''} />
  ),
  code_block: ({ content }) => <CodeBlock code={asTyped(content)} language="" />,
  code_inline: ({ content }) => <code className={classes.code}>{asTyped(content)}</code>,
  strong_open: (_token, children) => <strong>{children}</strong>,
  em_open: (_token, children) => <em>{children}</em>,
  s_open: (_token, children) => <s>{children}</s>,
  link_open: (token, children) => <SafeLink href={attribute(token, 'href')}>{children}</SafeLink>,
  image: (token) => <Picture source={attribute(token, 'src')} text={asTyped(token.content)} />,
  mention: ({ content, meta }) => (
    <Mention label={content} kind={String(meta?.kind)} id={String(meta?.id ?? '')} />
  ),
  softbreak: () => <br />,
  hardbreak: () => <br />,
};

/** Their children become elements when they have changed. */
const LAZY = /^(?:(?:bullet|ordered)_list|tr)_open$/;

function elementOf(node: Node, index: number): ReactNode {
  const { token, children } = node;
  const render = RENDERS[token.type];
  if (!render) return asTyped(token.content);
  const inner = LAZY.test(token.type) ? [] : children.map(elementOf);
  return <Fragment key={index}>{render(token, inner, node)}</Fragment>;
}

const HEADINGS = ['h3', 'h4', 'h5', 'h6'] as const;

/** Headings of messages stand below those of the page. */
function Heading({ level, children }: { level: number; children: ReactNode }) {
  const Tag = HEADINGS[Math.min(level, HEADINGS.length) - 1] ?? 'h6';
  return <Tag>{children}</Tag>;
}

const items = (list: Node): ReactNode[] =>
  // biome-ignore lint/suspicious/noArrayIndexKey: items have no other identity than their place
  list.children.map((item, index) => <Item key={index} node={item} />);

/** Whether a part of a block looks as it did before. */
const isSame = ({ node: before }: { node: Node }, { node: after }: { node: Node }): boolean =>
  before.token.meta?.source !== undefined &&
  before.token.meta.source === after.token.meta?.source &&
  before.children[0]?.token.hidden === after.children[0]?.token.hidden;

const Item = memo(function Item({ node: { token, children } }: { node: Node }) {
  const isDone = token.meta?.isDone;
  if (isDone === undefined) return <li>{children.map(elementOf)}</li>;
  return (
    <li className={classes.task}>
      <TaskMark isDone={isDone === true} />
      <div>{children.map(elementOf)}</div>
    </li>
  );
}, isSame);

const Row = memo(function Row({ node: { children } }: { node: Node }) {
  return <tr>{children.map(elementOf)}</tr>;
}, isSame);
