/** Tells every node which runs are purged, so that no node shows rows that it remembers. */
import type { ContextId, RunId } from '@cairn/protocol';
import { z } from 'zod';
import type { ClusterNode } from '../cluster/cluster-node.ts';
import type { RetiredRun, TreePurger } from './purger.ts';

const noticeShape = z.object({ runId: z.string(), contextId: z.string() });

export interface PurgeNoticePorts {
  readonly purger: TreePurger;
  readonly clusterNode: ClusterNode;
  /** They remember rows of runs. */
  readonly feed: { forget(contextId: ContextId): void };
  readonly snapshots: { forget(runId: RunId): void };
}

export function followPurges({ purger, clusterNode, feed, snapshots }: PurgeNoticePorts): void {
  const forget = ({ contextId, runId }: RetiredRun): void => {
    feed.forget(contextId);
    snapshots.forget(runId);
  };
  purger.follow((run) => {
    forget(run);
    const { runId, contextId } = run;
    clusterNode.hint('run.purged', JSON.stringify({ runId, contextId }));
  });
  clusterNode.on('run.purged', (body) => {
    const { runId, contextId } = noticeShape.parse(JSON.parse(body));
    forget({ runId: runId as RunId, contextId: contextId as ContextId });
  });
}
