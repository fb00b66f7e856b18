/** Limits how often a room overrides the type checker, so that types stay correct from the catalogue to the wire. */
import { testFile } from '../import-table.ts';
import type { Finding } from './finding.ts';
import type { Source } from './source.ts';

/** Maximum casts per thousand lines in a room. */
const MAX_PER_THOUSAND = 8;
const MAX_ALLOWED_FILES = 10;

/** Files that may cast through `unknown`, each with the reason why no type can express it. */
const doubleCasts: Readonly<Record<string, string>> = {
  'packages/host/src/log/sqlite/query.ts': 'the text of a SELECT decides the columns of its rows',
};

interface RoomCasts {
  readonly room: string;
  readonly lines: number;
  readonly casts: number;
  readonly isTests: boolean;
}

export function checkCasts(
  sources: readonly Source[],
  allowed: Readonly<Record<string, string>> = doubleCasts,
): readonly Finding[] {
  const tooMany = roomCasts(sources)
    .filter(({ casts, lines, isTests }) => !isTests && casts * 1000 > lines * MAX_PER_THOUSAND)
    .map(({ room, casts, lines }) => ({
      file: room,
      message: `has ${casts} casts in ${lines} lines (${perThousand(casts, lines)} per thousand); the bound is ${MAX_PER_THOUSAND}. Let the type say it.`,
    }));
  return [...tooMany, ...forbidden(sources, allowed), ...staleEntries(sources, allowed)];
}

function forbidden(sources: readonly Source[], allowed: Readonly<Record<string, string>>): readonly Finding[] {
  return sources.flatMap(({ path, casts }) =>
    casts.flatMap(({ kind, line }) => {
      if (kind === 'non-null') return [{ file: path, line, message: 'asserts with `!`; check the value, or type it.' }];
      if (kind === 'double-cast' && allowed[path] === undefined)
        return [
          { file: path, line, message: 'casts through `unknown`; parse the value, or type it where it is made.' },
        ];
      return [];
    }),
  );
}

function staleEntries(sources: readonly Source[], allowed: Readonly<Record<string, string>>): readonly Finding[] {
  const files = Object.keys(allowed);
  const stale = files
    .filter((file) => !sources.some(({ path, casts }) => path === file && casts.some((c) => c.kind === 'double-cast')))
    .map((file) => ({ file, message: 'may cast through `unknown` and does not; take it off the list.' }));
  if (files.length <= MAX_ALLOWED_FILES) return stale;
  return [
    ...stale,
    { message: `${files.length} files may cast through \`unknown\`; the bound is ${MAX_ALLOWED_FILES}.` },
  ];
}

/** A room is a folder. Tests are counted separately, because they may use a wrong type on purpose. */
function roomCasts(sources: readonly Source[]): readonly RoomCasts[] {
  const rooms = new Map<string, { lines: number; casts: number; isTests: boolean }>();
  for (const { path, lines, casts } of sources) {
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
    const isTests = testFile.test(path);
    const name = isTests ? `${folder} (tests)` : folder;
    const room = rooms.get(name) ?? { lines: 0, casts: 0, isTests };
    room.lines += lines;
    room.casts += casts.filter(({ kind }) => kind === 'cast').length;
    rooms.set(name, room);
  }
  return [...rooms].map(([room, counted]) => ({ room, ...counted })).sort((a, b) => (a.room < b.room ? -1 : 1));
}

const perThousand = (casts: number, lines: number): string => ((1000 * casts) / Math.max(lines, 1)).toFixed(1);

/** A table of all rooms and their casts, for `npm run lint -- types`. */
export function castTable(sources: readonly Source[]): string {
  const rooms = roomCasts(sources).filter(({ casts }) => casts > 0);
  const rows = rooms.map(
    ({ room, casts, lines }) =>
      `${perThousand(casts, lines).padStart(6)}  ${String(casts).padStart(4)} in ${String(lines).padStart(6)} lines  ${room}`,
  );
  const casts = rooms.reduce((sum, room) => sum + room.casts, 0);
  const lines = sources.reduce((sum, source) => sum + source.lines, 0);
  const total = `${perThousand(casts, lines).padStart(6)}  ${String(casts).padStart(4)} in ${String(lines).padStart(6)} lines  in all`;
  return ['casts per thousand lines, rooms without any left out:', ...rows, total].join('\n');
}
