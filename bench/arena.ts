/**
 * The processes of one comparison: the host, the load generator, and the hollow server, which does the minimum work.
 */
import { join } from 'node:path';
import { hostHeapFlags } from '../packages/host/bin/heap.mjs';
import { present } from '../packages/host/test/kit/present.ts';
import { Child } from './child.ts';
import type { Durability } from './figure.ts';
import type { HollowCommands } from './hollow-server.ts';
import type { HostCommands } from './host.ts';
import type { LoadCommands } from './load.ts';
import { freshFolder, type Plan } from './plan.ts';
import { type RunShape, readListedRun, readRowShape, runShape } from './run-shape.ts';
import type { Target } from './watched-run.ts';

/** CPU time and commits of a server during an operation, and the device flushes in the same period. */
export interface Cost extends Durability {
  readonly cpuMs: number;
  readonly ms: number;
}

export interface Arena extends AsyncDisposable {
  readonly host: Child<HostCommands>;
  readonly hostTarget: Target;
  readonly hostFolder: string;
  readonly load: Child<LoadCommands>;
}

export async function openArena(plan: Plan): Promise<Arena> {
  // Ends both processes if the host fails to start. A leftover process would keep the benchmark from exiting.
  await using starting = new AsyncDisposableStack();
  const host = starting.use(new Child<HostCommands>(new URL('./host.ts', import.meta.url), hostHeapFlags));
  const load = starting.use(new Child<LoadCommands>(new URL('./load.ts', import.meta.url)));
  const hostFolder = freshFolder(plan, 'host');
  const hostTarget = await host.ask('serve', { folder: hostFolder });
  const started = starting.move();
  return { host, hostTarget, hostFolder, load, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

export interface Hollow extends AsyncDisposable {
  readonly server: Child<HollowCommands>;
  readonly target: Target;
  readonly shape: RunShape;
}

/** Starts a hollow server for one workflow. First makes a real run and copies its rows and frames. */
export async function openHollow(plan: Plan, arena: Arena, workflowId: string): Promise<Hollow> {
  const stream = await oneRun(arena.hostTarget, workflowId);
  const file = join(arena.hostFolder, 'cairn.db');
  const shape = runShape(readRowShape(file), readListedRun(file), stream);
  const server = new Child<HollowCommands>(new URL('./hollow-server.ts', import.meta.url));
  const port = await server.ask('serve', { folder: freshFolder(plan, 'hollow'), shape });
  return { server, target: { port, key: 'none' }, shape, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Runs a workflow until it ends or waits for a person, and returns its frames. */
async function oneRun({ port, key }: Target, workflowId: string): Promise<string> {
  const url = `http://127.0.0.1:${port}/v1/runs`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const created = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ workflowId, inputs: {} }) });
  const { runId } = (await created.json()) as { readonly runId: string };
  const events = await fetch(`${url}/${runId}/events?streamMode=debug`, {
    headers: { ...headers, accept: 'text/event-stream' },
  });
  let text = '';
  for await (const part of present(events.body).pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes('\nevent: node.suspended\n') && text.endsWith('\n\n')) break;
  }
  return text;
}

/** Measures what an operation costs a server. */
export async function costOf<T>(
  plan: Plan,
  server: { ask(name: 'usage'): Promise<{ readonly cpuMs: number; readonly commits: number }> },
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly cost: Cost }> {
  const before = await server.ask('usage');
  const flushes = plan.flushes.read();
  const begin = performance.now();
  const result = await work();
  const ms = performance.now() - begin;
  const flushed = plan.flushes.read() - flushes;
  const after = await server.ask('usage');
  return {
    result,
    cost: { cpuMs: after.cpuMs - before.cpuMs, commits: after.commits - before.commits, flushes: flushed, ms },
  };
}
