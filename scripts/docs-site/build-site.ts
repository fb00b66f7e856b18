/** Builds the documentation site: static files with relative addresses, a search index, no third party. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { build } from 'vite';
import type { Entry } from './browser/search.ts';
import { framed } from './frame.ts';
import { groups } from './navigation.ts';
import { addressOf, escaped, type Page, readPage } from './page.ts';

const root = join(import.meta.dirname, '../..');
const docs = join(root, 'docs');
const own = import.meta.dirname;
/** The tokens of the look, shared with Studio. */
const theme = join(root, 'packages/studio/src/theme.css');
const icon = join(root, 'packages/studio/src/cairn.svg');

/** Where the host looks for the site. */
export const hostFolder: string = join(root, 'packages/host/dist/docs');

/** Every page of `docs/`, in the order of the navigation; those without a place in it come last, and only the search finds them. */
export function readPages(): readonly Page[] {
  const files = readdirSync(docs, { recursive: true, encoding: 'utf8' }).map((file) => file.split(sep).join('/'));
  const names = files.filter((file) => file.endsWith('.md')).map((file) => file.slice(0, -'.md'.length));
  const ordered = groups.flatMap(({ pages }) => pages).filter((name) => names.includes(name));
  const rest = names.filter((name) => !ordered.includes(name)).toSorted();
  return [...ordered, ...rest].map((name) => readPage(docs, name));
}

/** A reader of the folder finds the site before or after, never a part of it. */
export async function buildSite(folder: string): Promise<readonly Page[]> {
  const pages = readPages();
  const made = `${folder}-${process.pid}`;
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  };
  const titles = new Map(pages.map(({ name, title }) => [name, title]));
  for (const page of pages) {
    write(addressOf(page.name), framed(page, titles));
    for (const picture of page.pictures) {
      mkdirSync(dirname(join(made, picture)), { recursive: true });
      copyFileSync(join(docs, picture), join(made, picture));
    }
  }
  write('404.html', framed(missingPage, titles).replaceAll(/(href|src|data-root)="(?![#/])/g, '$1="/docs/'));
  write('search-index.js', `window.cairnDocs = ${JSON.stringify(pages.flatMap(entriesOf))};\n`);
  write('site.css', `${readFileSync(theme, 'utf8')}\n${readFileSync(join(own, 'site.css'), 'utf8')}`);
  copyFileSync(icon, join(made, 'cairn.svg'));
  for (const script of ['theme', 'site']) await bundle(script, made);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  renameSync(made, folder);
  return pages;
}

/** Builds the site of the host unless it is newer than everything it is made of. */
export async function buildStaleSite(): Promise<void> {
  const page = join(hostFolder, 'index.html');
  const builtAt = existsSync(page) ? statSync(page).mtimeMs : 0;
  if ([docs, own, theme].some((source) => changedAt(source) > builtAt)) await buildSite(hostFolder);
}

function changedAt(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
}

export const entriesOf = ({ name, title, sections }: Page): readonly Entry[] =>
  sections.map(({ heading, anchor, text }) => {
    const address = addressOf(name);
    return [heading === title || anchor === '' ? address : `${address}#${anchor}`, title, heading, text];
  });

const missingPage: Page = {
  name: '404',
  title: 'No such page',
  html: `<h1>No such page</h1>\n<p>${escaped('The documentation has no page at this address. Search for it above, or begin with the')} <a href="index.html">first page</a>.</p>\n`,
  sections: [],
  outline: [],
  pictures: [],
};

/** Classic scripts: they also work from a folder, without a server. */
async function bundle(name: string, folder: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    mode: 'production',
    build: {
      outDir: folder,
      emptyOutDir: false,
      target: 'es2022',
      lib: {
        entry: join(own, 'browser', `${name}.ts`),
        name: 'cairnSite',
        formats: ['iife'],
        fileName: () => `${name}.js`,
      },
    },
  });
}
