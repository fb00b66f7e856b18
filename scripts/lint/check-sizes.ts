/** Limits how many sources a folder has and how many functions a port of the store has, so that each can be read whole. */
import { testFile } from '../import-table.ts';
import type { Finding } from './finding.ts';
import type { Source } from './source.ts';

export interface Exception {
  /** The bound instead of the general one. Left out: no bound. */
  readonly bound?: number | undefined;
  readonly why: string;
}

type Exceptions = Readonly<Record<string, Exception>>;

export interface SizeRules {
  /** By folder. */
  readonly folders: Exceptions;
  /** By file and name of the interface. */
  readonly ports: Exceptions;
}

const MAX_SOURCES = 25;
const PORTS = /^packages\/host\/src\/log\/ports\/[^/]+$/;
const MIN_FUNCTIONS = 5;
const MAX_FUNCTIONS = 8;

const port = (file: string, name: string): string => `packages/host/src/log/ports/${file}.ts ${name}`;

const exceptions: SizeRules = {
  folders: {
    bench: { why: 'a file is a benchmark, or what one of them starts' },
    'packages/host/src/cli': { why: 'a file is a verb' },
    'packages/client/src': { bound: 27, why: 'a file is a part of the API; folders inside hold the larger parts' },
    'packages/protocol/src/views': { bound: 26, why: 'a file is one fold, and they import each other' },
    'packages/studio/src/run': { bound: 27, why: 'one screen; its tabs with more than one file have folders' },
    'e2e/sim': { bound: 27, why: 'a file is one invariant, or one actor of the simulation' },
    'packages/host/test/kit': { bound: 29, why: 'helpers that do not know each other' },
  },
  ports: {
    [port('store', 'Store')]: { bound: 1, why: 'holds the ports, and closes them together' },
    [port('event-log', 'Interest')]: { bound: 2, why: 'what a listener gives to `follow`' },
    [port('changes', 'ChangeLog')]: { bound: 3, why: 'a second reader of the log, which `EventLog` has no room for' },
    [port('memories', 'Memories')]: { bound: 3, why: 'only reads: memories are written by appends' },
    [port('packs', 'Packs')]: { bound: 3, why: 'one table' },
    [port('blobs', 'Blobs')]: { bound: 4, why: 'bytes by their hash, in a file system or a database' },
    [port('checkpoints', 'Checkpoints')]: { bound: 4, why: 'a cache that a store may lose' },
    [port('expiring', 'ExpiringRecords')]: { bound: 4, why: 'one table' },
    [port('retention', 'Retention')]: { bound: 4, why: 'what a purge reads; `Purges` is what it does' },
    [port('subscriptions', 'Subscriptions')]: { bound: 4, why: 'one table' },
  },
};

export function checkSizes(sources: readonly Source[], rules: SizeRules = exceptions): readonly Finding[] {
  return [...folderFindings(sources, rules.folders), ...portFindings(sources, rules.ports)];
}

function folderFindings(sources: readonly Source[], excepted: Exceptions): readonly Finding[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) {
    if (testFile.test(path)) continue;
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const tooLarge = [...counts].flatMap(([file, count]) => {
    const { bound = Number.POSITIVE_INFINITY } = excepted[file] ?? { bound: MAX_SOURCES };
    if (count <= bound) return [];
    return [{ file, message: `has ${count} sources; the bound is ${bound}. Give a part of them a folder.` }];
  });
  return [...tooLarge, ...stale(excepted, (folder) => (counts.get(folder) ?? 0) > MAX_SOURCES)];
}

function portFindings(sources: readonly Source[], excepted: Exceptions): readonly Finding[] {
  const ports = sources
    .filter(({ path }) => PORTS.test(path) && !testFile.test(path))
    .flatMap(({ path, interfaces }) => interfaces.map((found) => ({ path, ...found })))
    // The others are records that travel through the ports.
    .filter(({ functions }) => functions > 0);
  const counts = new Map(ports.map(({ path, name, functions }) => [`${path} ${name}`, functions]));
  const isFit = (functions: number) => functions >= MIN_FUNCTIONS && functions <= MAX_FUNCTIONS;
  const unfit = ports.flatMap(({ path, name, line, functions }) => {
    const exception = excepted[`${path} ${name}`];
    if (exception === undefined ? isFit(functions) : functions <= (exception.bound ?? functions)) return [];
    const bounds = exception === undefined ? `${MIN_FUNCTIONS} to ${MAX_FUNCTIONS}` : `at most ${exception.bound}`;
    return [{ file: path, line, message: `${name} has ${functions} functions; a port has ${bounds}.` }];
  });
  return [...unfit, ...stale(excepted, (name) => !isFit(counts.get(name) ?? MIN_FUNCTIONS))];
}

function stale(excepted: Exceptions, isNeeded: (name: string) => boolean): readonly Finding[] {
  return Object.keys(excepted)
    .filter((name) => !isNeeded(name))
    .map((name) => ({ message: `${name} is an exception of the sizes without need; take it off the list.` }));
}
