/**
 * The import table: which room may import which, and what each room may access. The single source of these rules, as
 * data.
 */

import { logRooms } from './log-rooms.ts';
import type { Room } from './room.ts';
import { smallFileRooms } from './small-file-rooms.ts';
import { studioRooms } from './studio-rooms.ts';

const cli = 'packages/host/src/cli';
/** The doctor checks a configuration the way a host does. */
const configuration = ['config', 'config-sources', 'json'].map((file) => `packages/host/src/server/config/${file}.ts`);
/** These read a data folder or a file directly, without a host. */
const offlineCommands =
  'verify backup.ts checkpoint.ts export.ts import.ts migrate.ts move.ts database-url.ts offline-store.ts doctor.ts doctor-database.ts doctor-data.ts doctor-rebuilds.ts folder-keys.ts bundle-file.ts earlier-children.ts'.split(
    ' ',
  );
const offlineLog = 'log log/ports log/chain log/bundle log/signed-checkpoint log/copy log/postgres log/sqlite'.split(
  ' ',
);
const offlineFiles = [
  'cli/database-url.ts',
  'cli/offline-store.ts',
  'cli/folder-keys.ts',
  'cli/bundle-file.ts',
  'cli/earlier-children.ts',
  'packages/host/src/server/secrets/host-secret.ts',
];
/** The part of the engine visible to node drivers. */
const enginePorts = ['workflow/node-type', 'ports', 'core/state', 'values/schemas', 'core/interrupts'].map(
  (file) => `packages/host/src/engine/${file}.ts`,
);
const server = [
  'protocol',
  'log',
  'log/signed-checkpoint',
  'engine',
  'agents',
  'agents/packs',
  'agents/providers',
  'bridges/agui',
  'redaction',
  'telemetry',
  'bridges/a2a',
  'bridges/ai-sdk',
  ...smallFileRooms.map(({ name }) => name),
];
/** The definition of a route, for rooms beside the server that have their own routes. */
const route = 'packages/host/src/server/http/routes.ts';
const everything = [
  'protocol',
  'client',
  'client/react',
  'log',
  'engine',
  'agents',
  'agents/packs',
  'agents/providers',
  'bridges/agui',
  'redaction',
  'telemetry',
  'bridges/ai-sdk',
  'conformance',
  'server',
  'cli',
  'kit',
  'testing',
  'host/index',
];

/** For rooms that run as programs or build the real ports. */
const unrestricted: Pick<Room, 'packages' | 'builtins' | 'world'> = { packages: 'any', builtins: 'any', world: 'any' };

/** A single file of the host that imports nothing. */

export const rooms: readonly Room[] = [
  { name: 'protocol', path: 'packages/protocol/src', imports: [], packages: ['zod'], builtins: [], world: [] },
  {
    name: 'client',
    path: 'packages/client/src',
    imports: ['protocol'],
    packages: ['eventsource-parser'],
    builtins: [],
    world: ['network'],
  },
  {
    name: 'client/timers',
    path: 'packages/client/src/timers.ts',
    imports: ['protocol', 'client'],
    packages: [],
    builtins: [],
    world: ['clock', 'timer', 'random'],
  },
  // The only part that needs React, which the rest must work without.
  {
    name: 'client/react',
    path: 'packages/client/src/react',
    imports: ['protocol', 'client'],
    packages: ['react'],
    builtins: [],
    world: [],
  },
  ...studioRooms,
  ...smallFileRooms,
  ...logRooms,
  {
    name: 'engine',
    path: 'packages/host/src/engine',
    imports: [
      'protocol',
      'log/ports',
      ...['fair-turns', 'lru-map', 'nearest', 'passing-map', 'shared-lru-map', 'tenant-slots', 'token-buckets', 'utf8'],
    ],
    packages: ['@marcbachmann/cel-js', 'ajv-formats', 'canonicalize', 're2js', 'zod'],
    builtins: [],
    world: [],
  },
  {
    name: 'redaction',
    path: 'packages/host/src/redaction',
    imports: ['protocol'],
    packages: [],
    builtins: [],
    world: [],
  },
  // Other protocols as pure views of the task events, and their requests. No bridge knows another.
  {
    name: 'bridges/agui',
    path: 'packages/host/src/bridges/agui',
    imports: ['protocol'],
    packages: ['@ag-ui/core', 'zod'],
    builtins: [],
    world: [],
  },
  {
    name: 'bridges/ai-sdk',
    path: 'packages/host/src/bridges/ai-sdk',
    imports: ['protocol', 'growing-text'],
    packages: ['zod'],
    builtins: [],
    world: [],
  },
  {
    name: 'agents',
    path: 'packages/host/src/agents',
    imports: [
      'protocol',
      'engine',
      'agents/packs',
      'growing-text',
      'log/ports',
      'lru-map',
      'nearest',
      'shared-lru-map',
      'utf8',
    ],
    packages: ['canonicalize', 'semver', 'zod'],
    builtins: [],
    world: [],
  },
  {
    name: 'agents/providers',
    path: 'packages/host/src/agents/providers',
    imports: ['protocol', 'agents', ...enginePorts],
    packages: 'any',
    builtins: [],
    world: ['network'],
  },
  {
    name: 'agents/packs',
    path: 'packages/host/src/agents/packs',
    imports: [
      'protocol',
      ...enginePorts,
      'packages/host/src/engine/values/schemas.ts',
      'packages/host/src/agents/models/scripted/script.ts',
      'packages/host/src/agents/prompts/prompt-template.ts',
      'repeated-key',
    ],
    packages: ['canonicalize', 'semver', 'tar', 'zod'],
    builtins: ['node:buffer', 'node:crypto', 'node:fs/promises', 'node:path', 'node:util', 'node:zlib'],
    world: ['node'],
  },
  {
    name: 'telemetry',
    path: 'packages/host/src/telemetry',
    imports: ['protocol', 'log/ports', 'lru-map', 'thrown-code', 'packages/host/src/engine/ports.ts', route],
    packages: [
      '@opentelemetry/exporter-metrics-otlp-http',
      '@opentelemetry/exporter-metrics-otlp-proto',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/exporter-trace-otlp-proto',
      'fastify',
      'prom-client',
      'zod',
    ],
    builtins: ['node:async_hooks', 'node:crypto'],
    world: [],
  },
  // How peers see a task. A bridge never imports another one.
  {
    name: 'bridges/a2a',
    path: 'packages/host/src/bridges/a2a',
    imports: ['protocol'],
    packages: [],
    builtins: [],
    world: [],
  },
  // Measures the process, for which there is no port.
  {
    name: 'telemetry/process-figures',
    path: 'packages/host/src/telemetry/process-figures.ts',
    imports: ['telemetry'],
    packages: [],
    builtins: ['node:perf_hooks'],
    world: ['process'],
  },
  {
    name: 'conformance',
    path: 'packages/host/src/conformance',
    imports: [
      'protocol',
      'engine',
      'agents',
      'log/ports',
      'lru-map',
      'packages/host/src/log/feed/frame.ts',
      'packages/host/src/server/host-extension.ts',
      route,
    ],
    packages: ['zod'],
    builtins: [],
    world: [],
  },
  {
    name: 'server',
    path: 'packages/host/src/server',
    imports: server,
    ...unrestricted,
  },
  // The only file that knows about conformance mode.
  {
    name: 'server/create-host',
    path: 'packages/host/src/server/create-host.ts',
    imports: [...server, 'server', 'packages/host/src/conformance/conformance.ts'],
    ...unrestricted,
  },
  {
    name: 'cli',
    path: cli,
    imports: ['protocol', 'client', 'escape-text', 'nearest', 'peer-findings'],
    ...unrestricted,
  },
  // Only the commands that start a host may import it. `app` follows the program of `cairn dev`, `identity` fetches as a
  // host does.
  ...['start.ts', 'dev.ts', 'app', 'identity'].map((command) => ({
    name: `cli/${command}`,
    path: `${cli}/${command}`,
    imports: ['protocol', 'client', 'cli', 'server'],
    ...unrestricted,
  })),
  ...offlineCommands.map((command) => ({
    name: `cli/${command}`,
    path: `${cli}/${command}`,
    imports: ['protocol', 'cli', ...offlineLog, ...offlineFiles, ...configuration],
    ...unrestricted,
  })),
  // Decides recorded runs again, with the engine and the agent loop alone.
  {
    name: 'cli/replay',
    path: `${cli}/replay.ts`,
    imports: [
      'protocol',
      'cli',
      'engine',
      'agents',
      'log',
      'log/bundle',
      'log/sqlite',
      'cli/bundle-file.ts',
      'cli/offline-store.ts',
    ],
    ...unrestricted,
  },
  // The pack commands read, check and sign packs the way a host does; `peers` reads and changes a configuration.
  ...['pack-folder.ts', 'pack-files.ts', 'peers'].map((command) => ({
    name: `cli/${command}`,
    path: `${cli}/${command}`,
    imports: ['protocol', 'client', 'cli', 'agents/packs', 'peer-findings', ...configuration],
    ...unrestricted,
  })),
  {
    name: 'testing',
    path: 'packages/host/src/testing',
    imports: ['protocol', 'client', 'server', 'server/create-host', 'log'],
    packages: [],
    builtins: ['node:crypto', 'node:fs/promises', 'node:os', 'node:path'],
    world: ['random'],
  },
  {
    name: 'host/index',
    path: 'packages/host/src/index.ts',
    imports: ['protocol', 'engine', 'agents', 'server', 'log', 'testing'],
    packages: ['zod'],
    builtins: [],
    world: [],
  },
  {
    name: 'host/bin',
    path: 'packages/host/bin',
    imports: ['cli', 'packages/host/dist'],
    ...unrestricted,
  },
  // Runs in the browser of a docs page reader.
  {
    name: 'host/assets',
    path: 'packages/host/assets',
    imports: [],
    packages: [],
    builtins: [],
    world: ['network', 'timer'],
  },
  {
    name: 'kit',
    path: 'packages/host/test/kit',
    imports: ['protocol', 'client', 'log', 'engine', 'agents', 'agents/packs', 'server', 'telemetry', 'conformance'],
    ...unrestricted,
  },
  {
    name: 'e2e',
    path: 'e2e',
    imports: [...everything, 'host/bin', 'studio/build'],
    ...unrestricted,
  },
  // A seed must repeat bit for bit: the simulated world has its own clock and randomness. Its only ambient access is
  // the event-loop turn that drains it.
  {
    name: 'e2e/sim',
    path: 'e2e/sim',
    imports: everything,
    packages: 'any',
    builtins: 'any',
    world: ['timer', 'node'],
  },
  {
    name: 'e2e/sim/main',
    path: 'e2e/sim/main.ts',
    imports: [...everything, 'e2e/sim'],
    ...unrestricted,
  },
  // Programs to copy: they use the packages as anybody would.
  {
    name: 'examples',
    path: 'examples',
    imports: ['protocol', 'client', 'client/react', 'host/index'],
    ...unrestricted,
  },
  // It opens Studio in the browser of the tests.
  {
    name: 'bench',
    path: 'bench',
    imports: [...everything, 'host/bin', 'studio/build', 'e2e/browser/chromium.ts'],
    ...unrestricted,
  },
  { name: 'scripts', path: 'scripts', imports: ['protocol'], packages: 'any', builtins: 'any', world: 'any' },
  { name: 'root', path: '', imports: [], packages: 'any', builtins: 'any', world: 'any' },
];

/** Maps each public entry of a package to its file in this repository. */
export const ownPackages: Readonly<Record<string, string>> = {
  '@cairn/protocol': 'packages/protocol/src/index.ts',
  '@cairn/client': 'packages/client/src/index.ts',
  '@cairn/client/context': 'packages/client/src/context/index.ts',
  '@cairn/client/react': 'packages/client/src/react/index.ts',
  '@cairn/host': 'packages/host/src/index.ts',
};

/** Rooms outside the packages that test or measure internals, and may therefore import past an `index.ts`. */
export const insiders: readonly string[] = ['e2e', 'e2e/sim', 'e2e/sim/main', 'bench'];

/** Test files, in any folder: free to import, never imported by a source file. */
export const testFile = /\.(test|contract|kit|test-d)\.ts$/;
