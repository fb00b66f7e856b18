/** The few things on a page that need a script: the search, the theme, buttons that copy. Without it, the pages still work. */
import { type Entry, type Found, findIn, wordsOf } from './search.ts';

declare global {
  interface Window {
    /** Set by the file with the index. */
    cairnDocs?: readonly Entry[];
    trustedTypes?: { createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy };
  }
}

interface Policy {
  createScriptURL(url: string): string;
}

const root = document.currentScript?.dataset.root ?? '';

/** A script, not a request for data: it also works from a folder, without a server. Only its own address is allowed. */
function loadIndex(): Promise<readonly Entry[]> {
  const address = `${root}search-index.js`;
  const policy = window.trustedTypes?.createPolicy('docs', {
    createScriptURL: (url) => {
      if (url === address) return url;
      throw new TypeError(url);
    },
  });
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = policy?.createScriptURL(address) ?? address;
    script.addEventListener('load', () => resolve(window.cairnDocs ?? []));
    script.addEventListener('error', () => reject(new Error('The index of the search cannot be loaded.')));
    document.head.append(script);
  });
}

function startSearch(input: HTMLInputElement, list: HTMLElement): void {
  let index: Promise<readonly Entry[]> | null = null;
  let current = -1;
  const links = () => [...list.querySelectorAll('a')];
  const select = (at: number) => {
    const all = links();
    current = all.length === 0 ? -1 : (at + all.length) % all.length;
    for (const [place, link] of all.entries()) {
      if (place === current) link.dataset.current = '';
      else delete link.dataset.current;
    }
    all[current]?.scrollIntoView({ block: 'nearest' });
  };
  const show = async () => {
    const query = input.value;
    index ??= loadIndex();
    const found = await index.then(
      (entries) => findIn(entries, query),
      () => null,
    );
    if (input.value !== query) return;
    list.replaceChildren(...(found === null ? [said('The search cannot be loaded.')] : results(found, query)));
    list.hidden = wordsOf(query).length === 0;
    select(0);
  };
  input.addEventListener('focus', () => {
    index ??= loadIndex();
    index.catch(() => undefined);
  });
  input.addEventListener('input', () => void show());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      select(current + (event.key === 'ArrowDown' ? 1 : -1));
    } else if (event.key === 'Enter') links()[current]?.click();
    else if (event.key === 'Escape') {
      list.hidden = true;
      input.blur();
    }
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea') !== null;
    if (event.key !== '/' || isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
  document.addEventListener('click', ({ target }) => {
    const isInside = target instanceof Node && (list.contains(target) || target === input);
    if (!isInside || (target instanceof Element && target.closest('a') !== null)) list.hidden = true;
  });
}

function results(found: readonly Found[], query: string): readonly HTMLElement[] {
  if (found.length === 0) return [said(`Nothing found for “${query.trim()}”.`)];
  return found.map(({ entry: [address, title, heading], excerpt }) => {
    const link = document.createElement('a');
    link.href = `${root}${address}`;
    const name = document.createElement('b');
    name.textContent = heading === '' || heading === title ? title : `${title} › ${heading}`;
    const text = document.createElement('span');
    text.append(...marked(excerpt, wordsOf(query)));
    link.append(name, text);
    return link;
  });
}

function said(text: string): HTMLElement {
  const line = document.createElement('p');
  line.textContent = text;
  return line;
}

/** The words of the search, marked. */
function marked(text: string, words: readonly string[]): readonly (string | HTMLElement)[] {
  const pattern = new RegExp(`(${words.map((word) => word.replaceAll('.', '\\.')).join('|')})`, 'giu');
  return text.split(pattern).map((piece, at) => {
    if (at % 2 === 0) return piece;
    const mark = document.createElement('mark');
    mark.textContent = piece;
    return mark;
  });
}

/** Light, dark, or as the system has it; shared with Studio. */
function startTheme(button: HTMLButtonElement): void {
  const themes: readonly (string | undefined)[] = ['system', 'light', 'dark'];
  const show = () => {
    button.textContent = `Theme: ${document.documentElement.dataset.theme ?? 'system'}`;
  };
  button.addEventListener('click', () => {
    const now = themes.indexOf(document.documentElement.dataset.theme);
    const next = themes[(Math.max(now, 0) + 1) % themes.length] ?? 'system';
    if (next === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem('cairn.theme', next);
    } catch {
      // The choice then lasts as long as the page.
    }
    show();
  });
  show();
  button.hidden = false;
}

function addCopy(figure: Element): void {
  const code = figure.querySelector('code');
  if (code === null || navigator.clipboard === undefined) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent ?? '');
    button.textContent = 'Copied';
  });
  figure.append(button);
}

const input = document.querySelector<HTMLInputElement>('#find');
const list = document.querySelector<HTMLElement>('#found');
if (input !== null && list !== null) startSearch(input, list);
const button = document.querySelector<HTMLButtonElement>('#theme');
if (button !== null) startTheme(button);
for (const figure of document.querySelectorAll('figure.code')) addCopy(figure);
// On a wide screen the navigation is always open.
const contents = document.querySelector<HTMLDetailsElement>('#contents');
const here = contents?.querySelector<HTMLElement>('[aria-current]');
if (contents != null && matchMedia('(min-width: 900px)').matches) {
  contents.open = true;
  const column = contents.parentElement;
  if (column !== null && here != null) column.scrollTop = here.offsetTop - column.clientHeight / 2;
}
