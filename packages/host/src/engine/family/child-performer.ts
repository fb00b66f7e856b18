/** Starts the runs that nodes ask for: once, whoever asks and however often. */
import { isCairnError, type JsonObject, type RunId, TerminalError } from '@cairn/protocol';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { StartRun } from '../engine.ts';
import type { CallContext, Clock, Performer } from '../ports.ts';
import { Backoff } from '../stepping/backoff.ts';
import type { Parent } from '../stepping/start-run.ts';
import type { Budget } from './account.ts';
import type { MemoryScope } from './memory-scope.ts';

/** What a node says of the run it wants. */
export interface ChildRequest {
  readonly childRunId: RunId;
  readonly workflowId: string;
  readonly inputs: JsonObject;
  /** Inputs that are to have no value, not even the one the workflow would give them. */
  readonly unset: readonly string[];
  readonly configurable: JsonObject;
  readonly principal: string | null;
  readonly toolScopes: readonly string[];
  /** How many runs are above the new one. */
  readonly depth: number;
  readonly isDetached: boolean;
  /** Who wanted it; null where no agent did. */
  readonly agentId: string | null;
  readonly budget: Budget;
  readonly memoryScope: MemoryScope;
}

/** A run that is started as the child of another. */
export interface ChildStart {
  readonly request: StartRun;
  readonly runId: RunId;
  readonly parent: Parent;
  readonly unset: readonly string[];
}

export interface ChildWorld {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly maxDepth: number;
  readonly start: (child: ChildStart) => Promise<unknown>;
}

const CHILD_PERFORMER = 'cairn.child';

export function childPerformer(world: ChildWorld): Performer {
  const { maxDepth } = world;
  return {
    typeId: CHILD_PERFORMER,
    async run(input, context) {
      const { tenant, contextId, runId, nodeId } = context;
      const child = input as unknown as ChildRequest;
      const { childRunId, workflowId, inputs, configurable, principal, toolScopes, depth, unset } = child;
      if (depth > maxDepth) throw tooDeep(workflowId, depth, maxDepth);
      const request: StartRun = {
        tenant,
        workflowId,
        inputs,
        contextId,
        options: { configurable },
        toolScopes,
        ...(principal === null ? {} : { principal }),
      };
      const parent = {
        runId,
        nodeId,
        depth,
        isDetached: child.isDetached,
        budget: child.budget,
        agentId: child.agentId,
        memoryScope: child.memoryScope,
      };
      await begun(world, { request, runId: childRunId, parent, unset }, context);
      return { childRunId };
    },
  };
}

/**
 * Tries until the run is there, or is refused for what it is: after a store that failed nobody knows whether it is, and
 * a run that was called refused and lives would be nobody's.
 */
async function begun({ log, clock, start }: ChildWorld, child: ChildStart, context: CallContext): Promise<void> {
  const backoff = new Backoff(clock);
  for (;;) {
    try {
      if ((await log.head(child.runId)) === null) await start(child);
      return;
    } catch (error) {
      const { signal } = context;
      // In a conflict another attempt was quicker, or is about to be.
      const mayBeThere = isCairnError(error) && (error.retryable || error.code === 'conflict');
      if (!mayBeThere || signal.aborted) throw error;
      signal.addEventListener('abort', () => backoff.cutShort(), { once: true });
    }
    await backoff.wait();
    context.signal.throwIfAborted();
  }
}

const tooDeep = (workflowId: string, depth: number, maxDepth: number): TerminalError =>
  new TerminalError('run_depth_exceeded', {
    message: `The workflow ${workflowId} would run ${depth} runs below its root; at most ${maxDepth} are allowed.`,
    hint: 'Look for a workflow that starts itself; a host can allow more with limits.maxRunDepth.',
    details: { workflowId, depth, maxDepth },
  });
