import { expect, onTestFinished, test } from 'vitest';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import { parseConfig } from '../server/config/config.ts';
import { serve } from './start.ts';
import type { Terminal } from './terminal.ts';

/** A terminal that notes what a command does with it; `signal` is Ctrl-C. */
function noting() {
  const exits: number[] = [];
  const printed: string[] = [];
  let signal: () => void = () => undefined;
  const rejected = new Set<(reason: unknown) => void>();
  const exited = Promise.withResolvers<void>();
  const terminal: Terminal = {
    version: '0',
    argv: [],
    env: {},
    cwd: '/',
    columns: null,
    colours: { out: false, err: false },
    isInteractive: false,
    now: () => 0,
    ask: () => Promise.resolve(null),
    print: (line) => void printed.push(line),
    tell: () => undefined,
    part: () => undefined,
    redraw: () => undefined,
    exit: (code) => {
      exits.push(code);
      exited.resolve();
    },
    onSignal: (handle) => {
      signal = handle;
    },
    onRejection: (handle) => {
      rejected.add(handle);
      return () => void rejected.delete(handle);
    },
  };
  return { terminal, exits, printed, exited: exited.promise, rejected, signal: () => signal() };
}

const config = parseConfig({ port: 0, keys: [{ key: 'a-key-for-these-tests', tenant: 'a' }] }, 'test');
const options = (store: Store = inMemoryStore()) => ({ store, report: () => undefined });

test('stops once at the first signal and exits with 0', async () => {
  const { terminal, exits, exited, signal } = noting();
  await serve(terminal, config, options());
  signal();
  await exited;
  expect(exits).toEqual([0]);
});

test('reports a rejection that nobody handled while the host runs, and goes on', async () => {
  const { terminal, exits, exited, rejected, signal } = noting();
  const reports: object[] = [];
  await serve(terminal, config, { store: inMemoryStore(), report: (notice) => void reports.push(notice) });
  const error = new Error('a stray promise');
  for (const handle of rejected) handle(error);
  expect(reports).toContainEqual({ level: 'error', event: 'process.rejection', error });
  expect(exits).toEqual([]);
  signal();
  await exited;
  expect(rejected.size).toBe(0);
});

test('ends at once at the second signal', async () => {
  const { terminal, exits, signal } = noting();
  const store = inMemoryStore();
  const closing = Promise.withResolvers<void>();
  const slow = { ...store, close: () => closing.promise };
  const host = await serve(terminal, config, options(slow));
  onTestFinished(async () => {
    closing.resolve();
    await host.close();
  });
  signal();
  expect(exits).toEqual([]);
  signal();
  expect(exits).toEqual([1]);
});

test('a signal while it starts stops it before it says that it is ready', async () => {
  const { terminal, exits, printed, signal } = noting();
  const starting = serve(terminal, config, options());
  signal();
  await starting;
  expect([exits, printed]).toEqual([[0], []]);
});

test('says so, and exits with 1, when it could not stop cleanly', async () => {
  const { terminal, exits, exited, signal } = noting();
  const broken = { ...inMemoryStore(), close: () => Promise.reject(new Error('disk gone')) };
  await serve(terminal, config, options(broken));
  signal();
  await exited;
  expect(exits).toEqual([1]);
});
