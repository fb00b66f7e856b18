/**
 * Reads Markdown as data: blocks and the spans inside them. Only what agents use: headings, lists, quotes, code, emphasis and
 * links. Anything else, HTML included, is text. Every character is read a bounded number of times.
 */

export type Inline =
  | { readonly kind: 'text' | 'code' | 'strong' | 'emphasis'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: 'paragraph' | 'quote'; readonly inlines: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'rule' };

/** A longer text is shown as it is. */
const MAX_MARKDOWN = 40_000;

const fence = /^\s{0,3}```\s*([\w+#.-]{0,20})\s*$/;
const heading = /^(#{1,4}) (.*)$/;
const bullet = /^\s{0,8}[-*+] (.*)$/;
const numbered = /^\s{0,8}\d{1,9}[.)] (.*)$/;
const quote = /^> ?(.*)$/;
const rule = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;

export function markdownBlocks(text: string): readonly Block[] {
  if (text.length > MAX_MARKDOWN) return [{ kind: 'code', language: '', text }];
  const lines = text.split(/\r?\n/);
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const read = blockAt(lines, at);
    if (read.block !== null) blocks.push(read.block);
    at = read.next;
  }
  return blocks;
}

interface Read {
  readonly block: Block | null;
  readonly next: number;
}

function blockAt(lines: readonly string[], at: number): Read {
  const line = lines[at] ?? '';
  if (line.trim() === '') return { block: null, next: at + 1 };
  const opened = fence.exec(line);
  if (opened !== null) return codeAt(lines, at, opened[1] ?? '');
  const title = heading.exec(line);
  if (title !== null) {
    const [, marks = '#', words = ''] = title;
    return { block: { kind: 'heading', level: marks.length, inlines: inlinesOf(words) }, next: at + 1 };
  }
  if (rule.test(line)) return { block: { kind: 'rule' }, next: at + 1 };
  if (bullet.test(line)) return listAt(lines, at, false);
  if (numbered.test(line)) return listAt(lines, at, true);
  const isQuote = quote.test(line);
  const isSame = (next: string) => (isQuote ? quote.test(next) : isPlain(next));
  const end = endOf(lines, at + 1, isSame);
  const words = lines.slice(at, end).map((one) => (isQuote ? (quote.exec(one)?.[1] ?? '') : one));
  return { block: { kind: isQuote ? 'quote' : 'paragraph', inlines: inlinesOf(words.join('\n')) }, next: end };
}

function codeAt(lines: readonly string[], at: number, language: string): Read {
  const end = endOf(lines, at + 1, (line) => !/^\s{0,3}```\s*$/.test(line));
  return { block: { kind: 'code', language, text: lines.slice(at + 1, end).join('\n') }, next: end + 1 };
}

function listAt(lines: readonly string[], at: number, isOrdered: boolean): Read {
  const mark = isOrdered ? numbered : bullet;
  const items: string[] = [];
  let end = at;
  while (end < lines.length) {
    const line = lines[end] ?? '';
    const item = mark.exec(line);
    if (item !== null) items.push(item[1] ?? '');
    else if (/^\s{2,}\S/.test(line) && isPlain(line)) items.push(`${items.pop() ?? ''}\n${line.trim()}`);
    else break;
    end += 1;
  }
  return { block: { kind: 'list', isOrdered, items: items.map(inlinesOf) }, next: end };
}

const isPlain = (line: string): boolean =>
  line.trim() !== '' && ![fence, heading, bullet, numbered, quote, rule].some((mark) => mark.test(line));

function endOf(lines: readonly string[], from: number, isInside: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && isInside(lines[end] ?? '')) end += 1;
  return end;
}

/** Code, strong, emphasis, a link, a bare address. Each part is bounded, so that no input is read more than once over. */
const inline =
  /`([^`\n]{1,2000})`|\*\*([^*\n]{1,2000})\*\*|\*([^*\s][^*\n]{0,2000})\*|\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})\)|(https?:\/\/[^\s<>()"'`]{1,2000})/g;

function inlinesOf(text: string): readonly Inline[] {
  const found: Inline[] = [];
  let from = 0;
  for (const match of text.matchAll(inline)) {
    if (match.index > from) found.push({ kind: 'text', text: text.slice(from, match.index) });
    found.push(inlineOf(match));
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ kind: 'text', text: text.slice(from) });
  return found;
}

function inlineOf([whole, code, strong, emphasis, label, target, address]: RegExpMatchArray): Inline {
  if (code !== undefined) return { kind: 'code', text: code };
  if (strong !== undefined) return { kind: 'strong', text: strong };
  if (emphasis !== undefined) return { kind: 'emphasis', text: emphasis };
  const href = safeAddress(target ?? address ?? '');
  // An address that a page must not open stays text, so that the reader sees what was written.
  return href === null ? { kind: 'text', text: whole } : { kind: 'link', text: label ?? whole, href };
}

/** The address as the browser will read it, if it is one that a page may open. */
export function safeAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const { protocol, href } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' || protocol === 'mailto:' ? href : null;
}
