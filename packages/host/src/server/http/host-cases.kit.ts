/** The requests about the host as a whole and about whole histories, for tests that cover the whole table. */
import { noop } from '../sample-workflows.kit.ts';
import type { Served } from '../served.kit.ts';

interface Names {
  readonly runId: string;
  readonly other?: string;
}

const nothing = () => ({});

/** A context with two runs that have ended; the second is the one. */
async function twoTasks(host: Served) {
  await host.engine.register('t', noop);
  const task = { tenant: 't', workflowId: noop.id, inputs: {}, options: {} };
  const { contextId } = await host.engine.start(task);
  const { runId } = await host.engine.start({ ...task, contextId });
  return { runId, nodeId: 'n0', workflowId: noop.id, other: contextId };
}

export const hostCases = {
  health: { request: nothing, status: 200 },
  readiness: { request: nothing, status: 200 },
  metrics: { request: nothing, status: 200 },
  listPeers: { request: nothing, status: 200 },
  // The peer of the test never answers, which is a finding.
  checkPeer: { request: () => ({ body: { hostId: 'beta' } }), status: 200 },
  checkChain: { request: ({ runId }: Names) => ({ path: { runId } }), status: 200 },
  forkContext: {
    given: twoTasks,
    request: ({ other = '', runId }: Names) => ({ path: { contextId: other }, body: { before: runId } }),
    status: 201,
  },
};
