/** The run in the path, if this node steps it for the caller's tenant: who may see it is known without a read of the log. */
import { parseRunId, type RunId } from '@cairn/protocol';
import type { Engine } from '../../engine/engine.ts';
import { type Call, pathParam } from '../http/routes.ts';

/** Null for any other run, and for a read token, which may show less. */
export function steppedRun(call: Call, engine: Pick<Engine, 'isSteppedHere'>): RunId | null {
  const { tenant, grant } = call.caller;
  const runId = parseRunId(pathParam(call, 'runId'));
  return runId !== null && grant === undefined && engine.isSteppedHere(tenant, runId) ? runId : null;
}
