/** Finds import cycles: none of the files in a cycle can be read, or loaded, first. */
import type { Finding } from './finding.ts';
import { resolve } from './room-of.ts';
import type { Source } from './source.ts';

/** One finding per cycle, shown as the path that closes it. Type imports count: a reader follows them too. */
export function checkCycles(sources: readonly Source[]): readonly Finding[] {
  const edges = new Map(sources.map((source) => [source.path, targetsOf(source)]));
  const state = new Map<string, 'open' | 'done'>();
  const trail: string[] = [];
  const findings: Finding[] = [];

  const visit = (path: string): void => {
    state.set(path, 'open');
    trail.push(path);
    for (const next of edges.get(path) ?? []) {
      if (state.get(next) === 'open') {
        const circle = [...trail.slice(trail.indexOf(next)), next];
        findings.push({ file: next, message: `imports itself: ${circle.join(' -> ')}` });
      } else if (!state.has(next) && edges.has(next)) visit(next);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const path of edges.keys()) if (!state.has(path)) visit(path);
  return findings;
}

function targetsOf({ path, imports }: Source): readonly string[] {
  return imports.flatMap(({ specifier }) => {
    const target = specifier === null ? null : resolve(path, specifier);
    return target?.kind === 'file' ? [target.path] : [];
  });
}
