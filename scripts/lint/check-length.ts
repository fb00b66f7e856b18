/** Holds the cap on file length, so that a file stays one idea. */
import type { Finding } from './finding.ts';
import type { Source } from './source.ts';

const MAX_LINES = 400;

/** Type files and generated files that may be longer. An entry that no longer needs to be here is a finding too. */
const longFiles: readonly string[] = [];

export function checkLength(sources: readonly Source[], exempt: readonly string[] = longFiles): readonly Finding[] {
  const long = sources.filter(({ lines }) => lines > MAX_LINES);
  const tooLong = long
    .filter(({ path }) => !exempt.includes(path))
    .map(({ path, lines }) => ({
      file: path,
      message: `has ${lines} lines; the cap is ${MAX_LINES}. Split it by idea.`,
    }));
  const stale = exempt
    .filter((path) => !long.some((source) => source.path === path))
    .map((path) => ({ file: path, message: `is exempt from the length cap without need; take it off the list.` }));
  return [...tooLong, ...stale];
}
