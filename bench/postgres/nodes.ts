/** Nodes of one database, each a host in a process of its own. */
import { hostHeapFlags } from '../../packages/host/bin/heap.mjs';
import { Child } from '../child.ts';
import type { HostCommands } from '../host.ts';
import type { Target } from '../watched-run.ts';

export interface Node extends AsyncDisposable {
  readonly host: Child<HostCommands>;
  readonly target: Target;
}

export async function startNode(url: string, folder: string): Promise<Node> {
  const host = new Child<HostCommands>(new URL('../host.ts', import.meta.url), hostHeapFlags);
  try {
    const target = await host.ask('serve', { folder, url });
    return { host, target, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
  } catch (error) {
    await host[Symbol.asyncDispose]();
    throw error;
  }
}
