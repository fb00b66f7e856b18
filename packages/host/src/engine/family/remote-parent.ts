/** Records the run of another host that requested a run here. */
import { DEFAULT_RUN_DEPTH, type HostLimits } from '../core/limits.ts';
import type { PayloadDraft } from '../core/payload-draft.ts';
import type { RemoteCaller } from '../engine.ts';
import { tooDeep } from './run-depth.ts';

/** Throws `run_depth_exceeded` if the run would be too deep below the first one, wherever that is. */
export function recordCaller(
  payload: PayloadDraft<'run.started'>,
  { parent, depth }: RemoteCaller,
  limits: HostLimits,
): void {
  const maxDepth = limits.maxRunDepth ?? DEFAULT_RUN_DEPTH;
  if (depth > maxDepth) throw tooDeep(payload.workflowId, depth, maxDepth);
  payload.remoteParent = parent;
  payload.causationHostId = parent.hostId;
  payload.depth = depth;
}
