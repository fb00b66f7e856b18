/** Shows the text of an agent: Markdown as React elements, never as HTML. */

import { createElement, memo, type ReactNode } from 'react';
import { Code } from '../parts/code.tsx';
import { type Block, type Inline, markdownBlocks } from './markdown-blocks.ts';
import './markdown.css';

/** The parts of a text never change places, so they are passed as they are and need no keys. */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  return createElement('div', { className: 'markdown' }, ...markdownBlocks(text).map(shownBlock));
});

function shownBlock(block: Block): ReactNode {
  switch (block.kind) {
    case 'heading':
      return createElement(block.level < 3 ? 'h4' : 'h5', null, ...shownInlines(block.inlines));
    case 'paragraph':
      return createElement('p', null, ...shownInlines(block.inlines));
    case 'quote':
      return createElement('blockquote', null, ...shownInlines(block.inlines));
    case 'code':
      return <Code parts={[block.text]} />;
    case 'list': {
      const items = block.items.map((item) => createElement('li', null, ...shownInlines(item)));
      return createElement(block.isOrdered ? 'ol' : 'ul', null, ...items);
    }
    case 'rule':
      return <hr />;
  }
}

const shownInlines = (inlines: readonly Inline[]): readonly ReactNode[] => inlines.map(shownInline);

function shownInline(inline: Inline): ReactNode {
  switch (inline.kind) {
    case 'text':
      return inline.text;
    case 'code':
      return <code>{inline.text}</code>;
    case 'strong':
      return <strong>{inline.text}</strong>;
    case 'emphasis':
      return <em>{inline.text}</em>;
    case 'link':
      return (
        <a href={inline.href} target="_blank" rel="noopener noreferrer nofollow">
          {inline.text}
        </a>
      );
  }
}
