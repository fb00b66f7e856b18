/** Holds the cap on file length, so that a file stays one idea. */
import { testFile } from '../import-table.ts';
import type { Finding } from './finding.ts';
import type { Source } from './source.ts';

const MAX_LINES = 400;
/** Sources of the host are shorter still: each is one idea, read on a screen or two. */
const MAX_HOST_LINES = 300;

const capOf = (path: string): number =>
  path.startsWith('packages/host/src/') && !testFile.test(path) ? MAX_HOST_LINES : MAX_LINES;

/** Type files and generated files that may be longer. An entry that no longer needs to be here is a finding too. */
const longFiles: readonly string[] = [];

export function checkLength(sources: readonly Source[], exempt: readonly string[] = longFiles): readonly Finding[] {
  const long = sources.filter(({ path, lines }) => lines > capOf(path));
  const tooLong = long
    .filter(({ path }) => !exempt.includes(path))
    .map(({ path, lines }) => ({
      file: path,
      message: `has ${lines} lines; the cap is ${capOf(path)}. Split it by idea.`,
    }));
  const stale = exempt
    .filter((path) => !long.some((source) => source.path === path))
    .map((path) => ({ file: path, message: `is exempt from the length cap without need; take it off the list.` }));
  return [...tooLong, ...stale];
}
