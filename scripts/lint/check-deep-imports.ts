/** Keeps packages separate: a package may import another only through its public entry, never a file inside it. */
import { insiders, ownPackages } from '../import-table.ts';
import type { Finding } from './finding.ts';
import { packageOf, resolve, roomOf } from './room-of.ts';
import type { Source } from './source.ts';

export function checkDeepImports(sources: readonly Source[]): readonly Finding[] {
  return sources.flatMap(({ path, imports }) =>
    insiders.includes(roomOf(path)?.name ?? '')
      ? []
      : imports.flatMap(({ specifier, line }) =>
          specifier !== null && isDeep(path, specifier)
            ? [{ file: path, line, message: `${specifier} reaches inside another package; import its public entry.` }]
            : [],
        ),
  );
}

function isDeep(from: string, specifier: string): boolean {
  const target = resolve(from, specifier);
  if (target.kind === 'package') return target.name in ownPackages && target.subpath !== '';
  if (target.kind !== 'file' || !specifier.startsWith('.')) return false;
  const owner = packageOf(target.path);
  return owner !== null && owner !== packageOf(from);
}
