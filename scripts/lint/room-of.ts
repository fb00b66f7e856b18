/** Resolves the room of a file, and the file that an import specifier refers to. */
import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { ownPackages, rooms } from '../import-table.ts';
import type { Room } from '../room.ts';

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string; readonly subpath: string };

/** Returns null for a file inside the packages that is not in the table. */
export function roomOf(path: string): Room | null {
  let best: Room | null = null;
  for (const room of rooms)
    if (within(path, room.path) && (best === null || room.path.length > best.path.length)) best = room;
  return best;
}

/** True for files in the folder or below it, and for a file within itself. The root's room contains no packages. */
export function within(path: string, folder: string): boolean {
  return folder === '' ? !path.startsWith('packages/') : path === folder || path.startsWith(`${folder}/`);
}

/** The folder of the package a file belongs to. Null outside the packages. */
export function packageOf(path: string): string | null {
  return /^packages\/[^/]+/.exec(path)?.[0] ?? null;
}

export function resolve(from: string, specifier: string): Target {
  if (specifier.startsWith('.')) return { kind: 'file', path: posix.join(posix.dirname(from), specifier) };
  if (specifier.startsWith('node:')) return { kind: 'builtin', name: specifier };
  if (builtinModules.includes(specifier)) return { kind: 'builtin', name: `node:${specifier}` };
  const parts = specifier.split('/');
  const length = specifier.startsWith('@') ? 2 : 1;
  const name = parts.slice(0, length).join('/');
  const subpath = parts.slice(length).join('/');
  const own = ownPackages[specifier];
  return own !== undefined ? { kind: 'file', path: own } : { kind: 'package', name, subpath };
}
