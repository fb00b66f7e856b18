/** Keeps clock, randomness, timers, network and process out of the rooms that must be pure. */
import { testFile } from '../import-table.ts';
import { worldGlobals } from '../world-table.ts';
import type { Finding } from './finding.ts';
import { roomOf } from './room-of.ts';
import type { Source } from './source.ts';

export function checkGlobals(sources: readonly Source[]): readonly Finding[] {
  return sources.flatMap(({ path, globals }) => {
    const room = roomOf(path);
    if (room === null || room.world === 'any' || testFile.test(path)) return [];
    const { name: roomName, world } = room;
    return globals.flatMap(({ name, use, line }) => {
      const rule = Object.hasOwn(worldGlobals, name) ? worldGlobals[name] : undefined;
      if (rule === undefined || world.includes(rule.world)) return [];
      if (rule.harmless?.includes(use) || (rule.only !== undefined && !rule.only.includes(use))) return [];
      return [
        { file: path, line, message: `${roomName} may not use ${use} (${rule.world}). Reach it through a port.` },
      ];
    });
  });
}
