/** Starts the child runs that nodes request. Each child starts once, however often it is requested. */
import { type ContextId, isCairnError, type RunId } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import { Backoff } from '../attempts/backoff.ts';
import { DEFAULT_RUN_DEPTH } from '../core/limits.ts';
import type { StartRun } from '../engine.ts';
import { CHILD_PERFORMER } from '../performer-ids.ts';
import type { CallContext, Clock, Performer, TraceContext, TraceOf } from '../ports.ts';
import type { EngineOptions } from '../stepping/engine-options.ts';
import type { ChildRequest } from './inheritance.ts';
import { tooDeep } from './run-depth.ts';

/** The node that requests a child run, with its tenant and context. */
export interface AskingNode {
  readonly tenant: string;
  readonly contextId: ContextId;
  readonly runId: RunId;
  readonly nodeId: string;
}

/** A request to start a child run. */
export interface ChildStart {
  readonly child: ChildRequest;
  readonly askedBy: AskingNode;
  /** seq of the row that requested it. */
  readonly requestedSeq: number;
  readonly trace?: TraceContext | undefined;
  /** The workflow of the run that requested it. */
  readonly parentWorkflowId?: string | undefined;
}

export interface ChildPorts {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly maxDepth: number;
  readonly start: (child: ChildStart) => Promise<unknown>;
  readonly traceOf?: TraceOf | undefined;
}

function childPerformer(ports: ChildPorts): Performer<ChildRequest> {
  const { maxDepth } = ports;
  return {
    typeId: CHILD_PERFORMER,
    // The child opens what its own effects need.
    keepsSealed: true,
    async run(child, context) {
      const { tenant, contextId, runId, nodeId, requestedSeq } = context;
      const { childRunId, workflowId, depth } = child;
      if (depth > maxDepth) throw tooDeep(workflowId, depth, maxDepth);
      const trace = await ports.traceOf?.(context);
      await begun(ports, { child, askedBy: { tenant, contextId, runId, nodeId }, requestedSeq, trace }, context);
      return { childRunId };
    },
  };
}

/** Child runs are created like any other run. */
export const createChildPerformer = (
  { store, clock, limits, traceOf }: Pick<EngineOptions, 'store' | 'clock' | 'limits' | 'traceOf'>,
  start: ChildPorts['start'],
): Performer =>
  childPerformer({ log: store.log, clock, maxDepth: limits.maxRunDepth ?? DEFAULT_RUN_DEPTH, start, traceOf });

/** Converts a child start to a request to start a run. */
export const startOfChild = ({ child, askedBy, trace }: ChildStart): StartRun => ({
  tenant: askedBy.tenant,
  workflowId: child.workflowId,
  inputs: child.inputs,
  contextId: askedBy.contextId,
  options: { configurable: child.configurable },
  toolScopes: child.toolScopes,
  trace,
  ...(child.principal === null ? {} : { principal: child.principal }),
});

/**
 * Retries until the child run exists or is refused for a permanent reason. After a store failure the child may exist. A
 * refusal would then leave an orphan run.
 */
async function begun({ log, clock, start }: ChildPorts, child: ChildStart, context: CallContext): Promise<void> {
  const backoff = new Backoff(clock);
  for (;;) {
    try {
      if ((await log.head(child.child.childRunId)) !== null) return;
      const parent = await log.head(child.askedBy.runId);
      await start({ ...child, parentWorkflowId: parent?.record.workflowId });
      return;
    } catch (error) {
      const { signal } = context;
      // On a conflict, another attempt has created the run or is creating it.
      const mayBeThere = isCairnError(error) && (error.retryable || error.code === 'conflict');
      if (!mayBeThere || signal.aborted) throw error;
      signal.addEventListener('abort', () => backoff.cutShort(), { once: true });
    }
    await backoff.wait();
    context.signal.throwIfAborted();
  }
}
