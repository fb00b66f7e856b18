import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Markdown } from './markdown.tsx';
import { markdownBlocks, safeAddress } from './markdown-blocks.ts';

const html = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

test('headings, lists, code, quotes, emphasis and links are shown', () => {
  const shown = html(
    '# Title\n\nA **strong** and *soft* `word`, [a page](https://example.org/a).\n\n- one\n- two\n\n1. first\n\n> said\n\n```js\nlet a = 1;\n```',
  );
  for (const part of [
    '<h4>Title</h4>',
    '<strong>strong</strong>',
    '<em>soft</em>',
    '<code>word</code>',
    'href="https://example.org/a"',
    '<ul><li>one</li><li>two</li></ul>',
    '<ol><li>first</li></ol>',
    '<blockquote>said</blockquote>',
    '<pre class="code" tabindex="0">let a = 1;</pre>',
  ])
    expect(shown).toContain(part);
});

test.for([
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><a href="javascript:alert(1)">x</a></svg>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](\tjavascript:alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD4=)',
  '[x](vbscript:msgbox)',
  '[x](//evil.example)',
  '`<b onclick=alert(1)>`',
  '```html\n<iframe src="javascript:alert(1)"></iframe>\n```',
  '[" onmouseover="alert(1)](https://example.org/"onmouseover="alert(1))',
])('%s stays text', (attack) => {
  const shown = html(attack);
  const tags = [...shown.matchAll(/<\/?([a-z0-9]+)([^>]*)>/g)];
  const allowed = ['div', 'p', 'a', 'code', 'pre', 'strong', 'em', 'ul', 'ol', 'li', 'h4', 'h5', 'blockquote', 'hr'];
  for (const [, tag = '', attributes = ''] of tags) {
    expect(allowed).toContain(tag);
    const names = [...attributes.matchAll(/([a-zA-Z-]+)="/g)].map(([, name]) => name);
    expect(['class', 'href', 'target', 'rel', 'tabindex']).toEqual(expect.arrayContaining(names));
    expect(attributes).not.toMatch(/href="(?!https?:|mailto:)/);
  }
});

test.for([
  'javascript:alert(1)',
  'data:text/html,x',
  'blob:https://a/b',
  'file:///etc/passwd',
  'ftp://a.example/',
  '/relative',
  '',
])('the address %s is no link', (address) => {
  expect(safeAddress(address)).toBeNull();
});

test('addresses of pages and of mail are links', () => {
  expect(safeAddress('https://example.org')).toBe('https://example.org/');
  expect(safeAddress('mailto:ann@example.org')).toBe('mailto:ann@example.org');
});

test('no text is lost, whatever is written', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', '`', '*', '**', '[', '](', ')', '#', '- ', '> ', '\n', '```\n', ' '), {
        maxLength: 40,
      }),
      (parts) => {
        const letters = (text: string) => text.replaceAll(/[^a]/g, '');
        const shown = html(parts.join('')).replaceAll(/<[^>]*>/g, '');
        expect(letters(shown)).toBe(letters(parts.join('')));
      },
    ),
  );
});

test.for(['*'.repeat(20_000), '['.repeat(20_000), '`'.repeat(20_000), '- '.repeat(10_000), '**a'.repeat(10_000)])(
  'a text made to be slow is read at once',
  (text) => {
    expect(markdownBlocks(text).length).toBeGreaterThan(0);
  },
);
