/** Checks every import against the import table. */
import { ownPackages, rooms, testFile } from '../import-table.ts';
import type { Room } from '../room.ts';
import { worldImports } from '../world-table.ts';
import type { Finding } from './finding.ts';
import { resolve, roomOf, within } from './room-of.ts';
import type { ImportRef, Source } from './source.ts';

export function checkImports(sources: readonly Source[]): readonly Finding[] {
  return sources.flatMap((source) => {
    if (testFile.test(source.path)) return [];
    const room = roomOf(source.path);
    if (room === null)
      return [{ file: source.path, line: 1, message: 'belongs to no room; give it one in scripts/import-table.ts.' }];
    return source.imports.flatMap((one) => {
      const message = refusal(source.path, room, one);
      return message === null ? [] : [{ file: source.path, line: one.line, message }];
    });
  });
}

function refusal(from: string, room: Room, ref: ImportRef): string | null {
  if (ref.specifier === null)
    return room.packages === 'any' ? null : `${room.name} may not import a computed module; name it.`;
  const target = resolve(from, ref.specifier);
  switch (target.kind) {
    case 'builtin':
      if (room.builtins !== 'any' && !room.builtins.includes(target.name))
        return `${room.name} may not import ${target.name}; it may use ${list(room.builtins)}. Reach it through a port.`;
      return worldRefusal(room, target.name, ref.names);
    case 'package':
      // An own package with a subpath is a deep import, which has its own check.
      if (target.name in ownPackages || room.packages === 'any' || room.packages.includes(target.name)) return null;
      return `${room.name} may not import the package ${target.name}; it may use ${list(room.packages)}.`;
    case 'file':
      if (testFile.test(target.path)) return `a source file may not import the test file ${target.path}.`;
      return allowed(room, target.path)
        ? null
        : `${room.name} may not import ${target.path} (${roomOf(target.path)?.name ?? 'no room'}); it may import ${list(room.imports)}.`;
  }
}

function allowed(room: Room, path: string): boolean {
  if (within(path, room.path)) return true;
  return room.imports.some((entry) => {
    const named = rooms.find((one) => one.name === entry);
    return within(path, named?.path ?? entry);
  });
}

function worldRefusal(room: Room, builtin: string, names: readonly string[]): string | null {
  const reaches = worldImports[builtin];
  if (reaches === undefined || room.world === 'any') return null;
  for (const name of names) {
    const world = reaches[name];
    if (world !== undefined && !room.world.includes(world))
      return `${room.name} may not take ${name} from ${builtin} (${world}). Reach it through a port.`;
  }
  return null;
}

function list(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
