/** Limits file length, so that each file covers one idea. */
import { testFile } from '../import-table.ts';
import type { Finding } from './finding.ts';
import type { Source } from './source.ts';

const MAX_LINES = 400;
/** The limit for host sources is lower: each covers one idea and fits on a screen or two. */
const MAX_HOST_LINES = 300;

const capOf = (path: string): number =>
  path.startsWith('packages/host/src/') && !testFile.test(path) ? MAX_HOST_LINES : MAX_LINES;

/** Type files and generated files that may be longer. An entry that is no longer needed is also a finding. */
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
