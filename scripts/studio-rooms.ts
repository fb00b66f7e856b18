/** The rooms of Studio in the import table. */
import type { Room } from './room.ts';

export const studioRooms: readonly Room[] = [
  // Runs in a browser, and knows the host only through the client.
  {
    name: 'studio',
    path: 'packages/studio/src',
    imports: ['protocol', 'client', 'client/react'],
    packages: [
      '@tanstack/react-query',
      '@tanstack/react-router',
      '@tanstack/react-virtual',
      '@xyflow/react',
      'react',
      'react-dom',
      'uplot',
    ],
    builtins: [],
    world: ['clock', 'network', 'timer'],
  },
  {
    name: 'studio/build',
    path: 'packages/studio/build',
    imports: [],
    packages: 'any',
    builtins: 'any',
    world: 'any',
  },
];
