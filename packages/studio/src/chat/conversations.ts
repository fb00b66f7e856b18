/** Conversations as a fold of the run list: the newest message of each context, newest first. */
import type { RunSnapshot, RunStatus } from '@cairn/protocol';
import { isAgentRun } from '../agents/agent-runs.ts';

export interface ConversationEntry {
  readonly contextId: string;
  /** The run of its oldest known message, which says what it is about. */
  readonly firstRunId: string;
  /** Names the agent that answered last. */
  readonly workflowId: string;
  /** Of its newest message. */
  readonly status: RunStatus;
  readonly at: string;
}

/** Newest first, as the runs are given. */
export function conversationsOf(runs: readonly RunSnapshot[]): readonly ConversationEntry[] {
  const found = new Map<string, ConversationEntry>();
  for (const { contextId, workflowId, parentRunId, startedAt, status, runId } of runs) {
    if (contextId === undefined || startedAt === undefined || parentRunId !== undefined) continue;
    if (!isAgentRun(workflowId)) continue;
    const newest = found.get(contextId) ?? { contextId, workflowId, status, at: startedAt };
    found.set(contextId, { ...newest, firstRunId: runId });
  }
  return [...found.values()];
}
