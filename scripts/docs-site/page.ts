/** One Markdown page as HTML, and what the search finds in it. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';

export interface Section {
  /** Empty for the text before the first heading. */
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

export interface Page {
  /** The path below `docs/`, without its ending. */
  readonly name: string;
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Section[];
  /** Headings of the second level. */
  readonly outline: readonly Section[];
  /** Pictures beside the page, as paths below `docs/`. */
  readonly pictures: readonly string[];
}

/** The address of a page on the site, relative to its root. */
export const addressOf = (name: string): string => `${name.replace(/(^|\/)README$/, '$1index')}.html`;

export function readPage(docs: string, name: string): Page {
  const pictures: string[] = [];
  const anchors = new Anchors();
  const sections: { heading: string; anchor: string; text: string; depth: number }[] = [
    { heading: '', anchor: '', text: '', depth: 1 },
  ];
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const anchor = anchors.of(plain(tokens));
        const inner = this.parser.parseInline(tokens);
        const link = depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${inner}${link}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(name, href);
        // A file of the repository is no page of this site.
        return target === null ? `<span class="file">${inner}</span>` : `<a href="${escaped(target)}">${inner}</a>`;
      },
      image({ href, text }) {
        pictures.push(posix.join(posix.dirname(name), href));
        return `<img src="${escaped(href)}" alt="${escaped(text)}">`;
      },
      code({ text, lang }) {
        const file = (lang ?? '').split(' ')[1];
        const caption = file === undefined ? '' : `<figcaption>${escaped(file)}</figcaption>`;
        return `<figure class="code">${caption}<pre tabindex="0"><code>${escaped(text)}</code></pre></figure>\n`;
      },
      // Pages are Markdown. What looks like markup, such as a placeholder, is text.
      html({ text }) {
        return escaped(text);
      },
    },
    hooks: {
      // A wide table scrolls inside its own frame.
      postprocess: (html) =>
        html.replaceAll('<table>', '<div class="table" tabindex="0"><table>').replaceAll('</table>', '</table></div>'),
    },
  });
  const tokens = marked.lexer(readFileSync(join(docs, `${name}.md`), 'utf8'));
  const forSearch = new Anchors();
  for (const token of tokens) {
    const last = sections.at(-1);
    if (token.type === 'heading') {
      const { depth } = token as Tokens.Heading;
      const heading = plain(token.tokens ?? []);
      sections.push({ heading, anchor: forSearch.of(heading), text: '', depth });
    } else if (last !== undefined) last.text += `${plain([token])} `;
  }
  const [title] = sections.filter(({ depth, heading }) => depth === 1 && heading !== '');
  if (title === undefined) throw new Error(`${name}.md has no title.`);
  const html = marked.parser(tokens);
  return {
    name,
    title: title.heading,
    html: String(marked.defaults.hooks?.postprocess?.(html) ?? html),
    sections: sections
      .filter(({ text, heading }) => text.trim() !== '' || heading !== '')
      .map(({ heading, anchor, text }) => ({ heading, anchor, text: text.replaceAll(/\s+/g, ' ').trim() })),
    outline: sections.filter(({ depth, heading }) => depth === 2 && heading !== ''),
    pictures,
  };
}

/** Anchors of headings, as GitHub makes them, so that links work there, too. */
class Anchors {
  readonly #seen = new Map<string, number>();

  of(heading: string): string {
    const base = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = this.#seen.get(base) ?? 0;
    this.#seen.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  }
}

/** The address of a link on the site; null if it leads to no page. */
function targetOf(name: string, href: string): string | null {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(name), path);
  if (target.startsWith('..') || !target.endsWith('.md')) return null;
  const address = posix.relative(posix.dirname(name), addressOf(target.slice(0, -'.md'.length)));
  return anchor === undefined ? address : `${address}#${anchor}`;
}

/** The words of tokens, without marks. */
function plain(tokens: readonly Token[]): string {
  return tokens.map(words).join('');
}

function words(token: Token): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows]
      .flat()
      .map(({ tokens }) => `${plain(tokens)} `)
      .join('');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => `${plain(item.tokens)} `).join('');
  if ('tokens' in token && token.tokens !== undefined) return plain(token.tokens);
  return 'text' in token && typeof token.text === 'string' ? token.text : ' ';
}

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
