/** Conversations as a fold of the run list: the newest message of each context, newest first. */
import type { RunSnapshot, RunStatus } from '@cairn/protocol';
import { isAgentRun, restOfAgent } from '../agents/agent-runs.ts';
import { agentsOf, titleOf } from '../runs/run-facts.ts';

export interface ConversationEntry {
  readonly contextId: string;
  /** What its oldest known message says. */
  readonly title: string;
  /** Who answered last. */
  readonly agent: string;
  /** Of its newest message. */
  readonly status: RunStatus;
  readonly at: string;
}

/** Newest first, as the runs are given. */
export function conversationsOf(runs: readonly RunSnapshot[]): readonly ConversationEntry[] {
  const found = new Map<string, ConversationEntry>();
  for (const run of runs) {
    const { contextId, workflowId, parentRunId, startedAt, status } = run;
    if (contextId === undefined || startedAt === undefined || parentRunId !== undefined) continue;
    if (!isAgentRun(workflowId)) continue;
    const agent = agentsOf(run)[0] ?? restOfAgent(workflowId);
    const newest = found.get(contextId) ?? { contextId, agent, status, at: startedAt };
    found.set(contextId, { ...newest, title: titleOf(run) ?? agent });
  }
  return [...found.values()];
}
