/** The rooms of the log: ports and what all stores share are pure, and each store stands alone. */
import type { Room } from './room.ts';

const log = 'packages/host/src/log';

export const logRooms: readonly Room[] = [
  { name: 'log/ports', path: `${log}/ports`, imports: ['protocol', 'utf8'], packages: [], builtins: [], world: [] },
  {
    name: 'log',
    path: log,
    imports: ['protocol', 'log/ports', 'lru-map', 'passing-map', 'round-robin', 'utf8'],
    packages: [],
    builtins: [],
    world: [],
  },
  ...['chain', 'blob-hash'].map((file) => ({
    name: `log/${file}`,
    path: `${log}/${file}.ts`,
    imports: ['protocol', 'log', 'log/ports'],
    packages: [],
    builtins: ['node:crypto'],
    world: [],
  })),
  ...['bundle', 'signed-checkpoint'].map((folder) => ({
    name: `log/${folder}`,
    path: `${log}/${folder}`,
    imports: ['protocol', 'log', 'log/ports', 'log/chain', 'log/bundle', 'utf8'],
    packages: ['zod'],
    builtins: ['node:crypto'],
    world: ['node' as const],
  })),
  {
    name: 'log/values',
    path: `${log}/values`,
    imports: ['protocol', 'log/ports', 'shared-lru-map', 'utf8'],
    packages: [],
    builtins: ['node:crypto'],
    world: [],
  },
  {
    name: 'log/postgres',
    path: `${log}/postgres`,
    imports: [
      ...['protocol', 'log', 'log/ports', 'log/chain', 'log/values'],
      ...['fair-turns', 'lru-map', 'passing-map', 'round-robin', 'utf8'],
    ],
    packages: ['postgres'],
    builtins: ['node:crypto', 'node:net', 'node:timers/promises'],
    world: ['timer', 'node', 'process'],
  },
  {
    name: 'log/sqlite',
    path: `${log}/sqlite`,
    imports: [
      ...['protocol', 'log', 'log/ports', 'log/chain', 'log/values'],
      ...['fair-turns', 'lru-map', 'passing-map', 'utf8'],
    ],
    packages: [],
    builtins: 'any',
    world: ['timer', 'node', 'process'],
  },
  // Between the two stores.
  {
    name: 'log/copy',
    path: `${log}/copy`,
    imports: ['protocol', 'log', 'log/ports', 'log/chain', 'log/values', 'log/postgres', 'log/sqlite'],
    packages: [],
    builtins: 'any',
    world: ['node', 'process'],
  },
];
