/** Nodes of one database, each a host in a process of its own. */
import { hostHeapFlags } from '../../packages/host/bin/heap.mjs';
import { Child } from '../child.ts';
import type { HostCommands } from '../host.ts';
import type { Target } from '../watched-run.ts';

export interface Node extends AsyncDisposable {
  readonly host: Child<HostCommands>;
  readonly target: Target;
}

/** `warmUp` is given the same process as a host on SQLite first, which compiles its code much faster. */
export async function startNode(
  url: string,
  folder: string,
  warmUp: (target: Target) => Promise<unknown> = async () => undefined,
): Promise<Node> {
  const host = new Child<HostCommands>(new URL('../host.ts', import.meta.url), hostHeapFlags);
  try {
    await warmUp(await host.ask('serve', { folder }));
    await host.ask('close');
    const target = await host.ask('serve', { folder, url });
    return { host, target, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}
