/** The documentation as a whole: every page has its place, every link and anchor leads somewhere, the search finds. */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { type Entry, findIn } from './browser/search.ts';
import { entriesOf, readPages } from './build-site.ts';
import { framed } from './frame.ts';
import { groups, listed } from './navigation.ts';
import { addressOf } from './page.ts';
import { conceptPictures } from './pictures/concepts.ts';
import { drawn } from './pictures/picture.ts';

const docs = join(import.meta.dirname, '../../docs');
const pages = readPages();
const titles = new Map(pages.map(({ name, title }) => [name, title]));
const site = new Map(pages.map((page) => [addressOf(page.name), framed(page, titles)]));

const anchorsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

/** Links that lead to no page or no heading. */
function deadLinks(address: string, html: string): readonly string[] {
  return [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].flatMap(([, href = '']) => {
    if (/^(https?|mailto):/.test(href)) return [];
    const [path = '', anchor] = href.split('#');
    const target = path === '' ? address : posix.join(posix.dirname(address), path);
    const there = site.get(target);
    const isAlive = there !== undefined && (anchor === undefined || anchorsOf(there).has(anchor));
    return isAlive ? [] : [`${address} -> ${href}`];
  });
}

test('every page has one place in the navigation, or is on a page that lists many', () => {
  const placed = groups.flatMap((group) => group.pages);
  expect(new Set(placed).size).toBe(placed.length);
  const isListed = (name: string): boolean => listed.some((pattern) => pattern.test(name));
  const names = pages.map(({ name }) => name).filter((name) => !isListed(name));
  expect(names.toSorted()).toEqual(placed.toSorted());
});

test('every link of every page leads to a page, and every anchor to a heading', () => {
  expect([...site].flatMap(([address, html]) => deadLinks(address, html))).toEqual([]);
});

test('a link to a page or a heading that is not there is found', () => {
  expect(deadLinks('index.html', '<a href="none.html">x</a> <a href="architecture.html#none">y</a>')).toHaveLength(2);
});

test('every page shows its pictures, and loads nothing from elsewhere', () => {
  for (const { name, pictures, html } of pages) {
    for (const picture of pictures)
      expect([name, picture, existsSync(join(docs, picture))]).toEqual([name, picture, true]);
    expect(html).not.toMatch(/<(script|iframe|style|link)\b|<[^>]*\son\w+=|src="(https?:)?\/\//);
  }
});

test('markup in a page is text', () => {
  const { html = '' } = pages.find(({ name }) => name === 'reference/mcp') ?? {};
  expect(html).toContain('The MCP server &lt;id&gt; asks');
});

test('each concept has a picture, drawn anew', () => {
  const concepts = pages.filter(({ name }) => /^concepts\/(?!README)/.test(name));
  expect(concepts.map(({ pictures }) => pictures)).toEqual(conceptPictures.map(({ name }) => [`concepts/${name}.svg`]));
  for (const picture of conceptPictures) {
    // "npm run docs:pictures" writes them.
    expect(readFileSync(join(docs, 'concepts', `${picture.name}.svg`), 'utf8')).toBe(drawn(picture));
    expect(drawn(picture)).toContain('prefers-color-scheme:dark');
  }
});

const entries = pages.flatMap(entriesOf);
const first = (query: string): string => findIn(entries, query)[0]?.entry[0] ?? '';

test.each([
  ['interrupt_expired', 'errors/interrupt_expired.html'],
  ['approvalgate', 'reference/nodes.html#coreapprovalgate'],
  ['backup', 'operate/backup-and-restore.html'],
  ['tour', 'start/tour.html'],
  ['sign in tool', 'guides/sign-in.html'],
  ['idempotencyKey', 'concepts/effects.html'],
])('a search for %s finds %s among the first', (query, address) => {
  const found = findIn(entries, query).map(({ entry }) => entry[0]);
  expect(found.slice(0, 6)).toContain(address);
});

test('a search needs every word, from its beginning, and shows where it is', () => {
  const some: readonly Entry[] = [
    ['a.html', 'Tides', 'Tides', 'When the moon is near, the water rises.'],
    ['b.html', 'Moons', '', `${'Nothing of note. '.repeat(30)}The water of the sea is not here.`],
  ];
  expect(findIn(some, 'wat moon').map(({ entry }) => entry[0])).toEqual(['b.html', 'a.html']);
  expect(findIn(some, 'ater')).toEqual([]);
  expect(findIn(some, 'moon desert')).toEqual([]);
  expect(findIn(some, '  ... ')).toEqual([]);
  expect(findIn(some, 'sea')[0]?.excerpt).toMatch(/^… .*water of the sea/);
});

test('what is not there is not found', () => expect(first('zzzzxq')).toBe(''));
