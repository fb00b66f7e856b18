/**
 * The run list in the memory of the page: a chain of pages, of which only those near the view are kept. A page that was
 * dropped keeps its place and its cursor, so that scrolling back reads it again. Nothing here knows of React or the host.
 */
import type { RunSnapshot } from '@cairn/protocol';

export interface RunPage {
  /** Where the host begins the page; null for the first. */
  readonly cursor: string | null;
  /** How many rows it has, also while they are dropped. */
  readonly count: number;
  /** Null while they are dropped. */
  readonly runs: readonly RunSnapshot[] | null;
  /** Its last run when it was read: the next page begins after it. */
  readonly last: RunSnapshot | null;
}

export interface RunPages {
  readonly pages: readonly RunPage[];
  /** Where the next page begins; null after the last one. */
  readonly next: string | null;
  /** Known rows. */
  readonly count: number;
}

export interface ReadPage {
  readonly runs: readonly RunSnapshot[];
  readonly nextCursor: string | null;
}

export const PAGE_SIZE = 100;

/** Pages kept before and after those in view. */
const KEPT_AROUND = 4;

/** The first page grows with each new run. Beyond this, the list begins anew. */
const MAX_FIRST = 1_000;

export const firstPages = ({ runs, nextCursor }: ReadPage): RunPages => ({
  pages: [pageOf(null, runs)],
  next: nextCursor,
  count: runs.length,
});

const pageOf = (cursor: string | null, runs: readonly RunSnapshot[]): RunPage => ({
  cursor,
  count: runs.length,
  runs,
  last: runs.at(-1) ?? null,
});

/** With a page that was read: the next one, or one that was dropped. */
export function withPage(list: RunPages, cursor: string, page: ReadPage): RunPages {
  const at = list.pages.findIndex((known) => known.cursor === cursor);
  if (at !== -1) return withPageAgain(list, at, page);
  if (cursor !== list.next) return list;
  return counted({ ...list, pages: [...list.pages, pageOf(cursor, page.runs)], next: page.nextCursor });
}

/**
 * The page ends where it ended before, because the next one begins there. If runs joined it, the host may need one page
 * more to get there.
 */
function withPageAgain(list: RunPages, at: number, { runs, nextCursor }: ReadPage): RunPages {
  const { cursor = null, last = null } = list.pages[at] ?? {};
  if (at === list.pages.length - 1)
    return counted({ ...list, pages: list.pages.with(at, pageOf(cursor, runs)), next: nextCursor });
  const end = endOf(runs, last);
  const own = { ...pageOf(cursor, runs.slice(0, end ?? runs.length)), last };
  if (end !== null || nextCursor === null) return counted({ ...list, pages: list.pages.with(at, own) });
  // How many are left is not known: one row stands for them until it comes into view.
  const rest: RunPage = { cursor: nextCursor, count: 1, runs: null, last };
  return counted({ ...list, pages: list.pages.toSpliced(at, 1, pageOf(cursor, runs), rest) });
}

/** How many of the runs come before the next page; null if all do, and perhaps more. */
function endOf(runs: readonly RunSnapshot[], last: RunSnapshot | null): number | null {
  const found = runs.findIndex(({ runId }) => runId === last?.runId);
  if (found !== -1) return found + 1;
  const older = runs.findIndex(({ startedAt }) => isBefore(startedAt, last?.startedAt));
  return older === -1 ? null : older;
}

/**
 * With the newest runs as the host has them now. They take the place of all rows down to the last of them, so that new
 * runs appear and those that left the filter go. Null if the list has to begin anew.
 */
export function withNewest(list: RunPages, { runs, nextCursor }: ReadPage): RunPages | null {
  const [first, ...rest] = list.pages;
  const known = first?.runs ?? [];
  if (nextCursor === null) return firstPages({ runs, nextCursor });
  const last = runs.at(-1);
  const at = last === undefined ? -1 : known.findIndex(({ runId }) => runId === last.runId);
  if (first === undefined || at === -1) return null;
  const merged = [...runs, ...known.slice(at + 1)];
  if (merged.length > MAX_FIRST) return null;
  return counted({ ...list, pages: [{ ...first, count: merged.length, runs: merged }, ...rest] });
}

/** What a change of runs does to the list: the list with them, and whether the newest runs have to be read. */
export interface ChangedPages {
  readonly list: RunPages;
  readonly hasNew: boolean;
}

/**
 * With runs as the host has them now, in their rows. A run that left the filter goes. One that matches, but was in no row,
 * is new, or matches since then, and comes into its place; or its page was dropped, and will be read with it.
 */
export function withChanged(
  list: RunPages,
  changed: readonly RunSnapshot[],
  matches: (run: RunSnapshot) => boolean,
): ChangedPages {
  const unknown = new Map(changed.map((run) => [run.runId, run]));
  const pages = list.pages.map((page) => {
    if (!page.runs?.some(({ runId }) => unknown.has(runId))) return page;
    const runs = page.runs.flatMap((run) => {
      const next = unknown.get(run.runId);
      unknown.delete(run.runId);
      if (next === undefined) return [run];
      return matches(next) ? [next] : [];
    });
    return { ...page, runs, count: runs.length };
  });
  let hasNew = false;
  for (const run of unknown.values()) {
    if (!matches(run)) continue;
    if (isBefore(run.startedAt, pages[0]?.runs?.[0]?.startedAt)) putInPlace(pages, run, list.next === null);
    else hasNew = true;
  }
  return { list: counted({ ...list, pages }), hasNew };
}

/** Puts a run into the page where its time belongs, if that is there. */
function putInPlace(pages: RunPage[], run: RunSnapshot, isWhole: boolean): void {
  const at = pages.findIndex(
    ({ last }, index) => isBefore(last?.startedAt, run.startedAt) || (isWhole && index === pages.length - 1),
  );
  const page = pages[at];
  if (page === undefined || page.runs === null) return;
  const older = page.runs.findIndex(({ startedAt }) => isBefore(startedAt, run.startedAt));
  const runs = page.runs.toSpliced(older === -1 ? page.runs.length : older, 0, run);
  pages[at] = { ...page, runs, count: runs.length };
}

const isBefore = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one < other;

/** Which rows are in view, and which runs show their children, so that their rows have to stay. */
export interface Seen {
  readonly from: number;
  readonly to: number;
  readonly open: ReadonlySet<string>;
}

/** Drops what is far from the rows in view. The first page stays: new runs arrive there. */
export function withoutFar(list: RunPages, { from, to, open }: Seen): RunPages {
  const [near, far] = [pageAt(list, from), pageAt(list, to)];
  const goes = ({ runs }: RunPage, index: number): boolean =>
    runs !== null &&
    index > 0 &&
    (index < near - KEPT_AROUND || index > far + KEPT_AROUND) &&
    !(open.size > 0 && runs.some(({ runId }) => open.has(runId)));
  if (!list.pages.some(goes)) return list;
  return { ...list, pages: list.pages.map((page, index) => (goes(page, index) ? { ...page, runs: null } : page)) };
}

/** The run in a row; null if its page was dropped or is not there. */
export function rowAt({ pages }: RunPages, row: number): RunSnapshot | null {
  let begin = 0;
  for (const { count, runs } of pages) {
    if (row < begin + count) return runs?.[row - begin] ?? null;
    begin += count;
  }
  return null;
}

/** The cursors of pages to read, so that these rows can be shown. */
export function missing(list: RunPages, from: number, to: number): readonly string[] {
  const wanted = list.pages
    .slice(pageAt(list, from), pageAt(list, to) + 1)
    .flatMap(({ runs, cursor }) => (runs === null && cursor !== null ? [cursor] : []));
  // The next page is read before the last row comes into view.
  return to >= list.count - PAGE_SIZE / 2 && list.next !== null ? [...wanted, list.next] : wanted;
}

function pageAt({ pages }: RunPages, row: number): number {
  let begin = 0;
  for (const [index, { count }] of pages.entries()) {
    begin += count;
    if (row < begin) return index;
  }
  return Math.max(0, pages.length - 1);
}

const counted = (list: RunPages): RunPages => ({
  ...list,
  count: list.pages.reduce((sum, { count }) => sum + count, 0),
});
