/** What surrounds the text of every page: the bar, the navigation, the outline. */
import { posix } from 'node:path';
import { groups } from './navigation.ts';
import { addressOf, escaped, type Page } from './page.ts';

/** A page as a whole document. All its addresses are relative, so that the site works at any place, even in a folder. */
export function framed(page: Page, titles: ReadonlyMap<string, string>): string {
  const folder = posix.dirname(page.name);
  const up = folder === '.' ? '' : '../'.repeat(folder.split('/').length);
  const title = page.name === 'README' ? 'Cairn documentation' : `${page.title} · Cairn`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="${up}cairn.svg">
<link rel="stylesheet" href="${up}site.css">
<script src="${up}theme.js"></script>
<script src="${up}site.js" data-root="${up}" defer></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header class="bar">
<a class="brand" href="${up}index.html"><img src="${up}cairn.svg" alt="" width="18" height="18"><span>Cairn</span> Docs</a>
<div class="find" role="search">
<input class="input" type="search" id="find" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<div id="found" class="found" hidden></div>
</div>
<button class="button" id="theme" type="button" hidden>Theme</button>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages">
<details id="contents"><summary>Contents</summary>
${groups.map((group) => groupOf(group.title, group.pages, { page, up, titles })).join('\n')}
</details>
</nav>
<main id="text" tabindex="-1">
${page.html}</main>
${outlineOf(page)}
</div>
</body>
</html>
`;
}

interface Place {
  readonly page: Page;
  readonly up: string;
  readonly titles: ReadonlyMap<string, string>;
}

function groupOf(title: string, names: readonly string[], { page, up, titles }: Place): string {
  const items = names
    .filter((name) => titles.has(name))
    .map((name) => {
      const isHere =
        name === page.name ||
        (name.endsWith('/README') && page.name.startsWith(posix.dirname(name)) && !titles.has(page.name));
      const here = isHere ? ' aria-current="page"' : '';
      return `<li><a href="${up}${addressOf(name)}"${here}>${escaped(titles.get(name) ?? name)}</a></li>`;
    });
  return `<h2>${escaped(title)}</h2>\n<ul>${items.join('')}</ul>`;
}

/** Headings of a page that has several. */
function outlineOf({ outline }: Page): string {
  if (outline.length < 3) return '<aside class="outline"></aside>';
  const items = outline.map(({ heading, anchor }) => `<li><a href="#${anchor}">${escaped(heading)}</a></li>`);
  return `<aside class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`;
}
