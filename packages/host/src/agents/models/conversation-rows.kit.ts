/** Builds the rows of a context for tests, and the conversation that an agent gets from them. */
import type { ContextId, Json, RunId } from '@cairn/protocol';
import type { Row } from '../../log/ports/rows.ts';
import { emptyContext } from './context-fold.ts';
import { conversationFor, foldRow, type Listener } from './conversation.ts';

/** The rows of one context, in order. */
export class Context {
  readonly rows: Row[] = [];

  add(runId: string, type: string, payload: Json, nodeId: string | null = null): number {
    const cursor = this.rows.length + 1;
    this.rows.push({
      runId: runId as RunId,
      contextId: 'ctx_1' as ContextId,
      seq: cursor,
      cursor,
      at: 0,
      type,
      nodeId,
      cause: null,
      audience: 'client',
      payload: JSON.stringify(payload),
      task: null,
      face: 0,
      rowHash: '',
      hash: '',
    });
    return cursor;
  }

  run(runId: string, message: string, answer: string | null): void {
    this.add(runId, 'run.started', { workflowId: 'w', inputs: { message } });
    if (answer !== null) this.add(runId, 'run.completed', { outputs: { content: answer } });
  }

  invoked(runId: string, nodeId: string, agentId: string, group: string): void {
    this.add(runId, 'agent.invocation.started', { invocationId: 'i', agentId, group, source: 'workflow-node' }, nodeId);
  }

  turn(runId: string, nodeId: string, text: string, toolCalls: readonly Json[] = []): void {
    this.add(runId, 'cairn.model.returned', { callId: 'c', turn: { text, toolCalls } }, nodeId);
  }

  hear(listener: Partial<Listener>) {
    const fold = emptyContext();
    for (const row of this.rows) foldRow(fold, row);
    return conversationFor(fold, {
      agentId: 'local.a.me',
      runId: 'run_now',
      group: 'context',
      cutCursor: this.rows.length + 1,
      task: 'the task',
      maxTokens: 10_000,
      ...listener,
    });
  }
}
