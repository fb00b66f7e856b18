/** Small files of the host beside its rooms: each is a room of its own, and may be used where the table says so. */
import type { Room } from './room.ts';

const room = (name: string, more: Partial<Room> = {}): Room => ({
  name,
  path: `packages/host/src/${name}.ts`,
  imports: [],
  packages: [],
  builtins: [],
  world: [],
  ...more,
});

export const smallFileRooms: readonly Room[] = [
  room('escape-text'),
  room('fair-turns', { imports: ['round-robin'] }),
  room('growing-text'),
  room('lru-map', { imports: ['passing-map'] }),
  room('nearest'),
  room('passing-map'),
  room('peer-findings', { imports: ['protocol'] }),
  room('repeated-key'),
  room('round-robin'),
  room('shared-lru-map'),
  room('tenant-slots'),
  room('thrown-code'),
  room('token-buckets'),
  room('utf8', { world: ['node'] }),
];
