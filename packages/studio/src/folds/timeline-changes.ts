/** Which spans of the timeline a row begins and ends. */
import type { RunRow } from './run-row.ts';

export type SpanKind = 'thinking' | 'tool' | 'waiting' | 'step' | 'child';

interface Begin {
  readonly do: 'begin' | 'begin-if-new';
  readonly name: string;
  readonly kind: SpanKind;
  readonly label: string;
  readonly attempt: number;
  readonly agentId?: string | undefined;
  readonly childRunId?: string;
}

export type Change =
  | Begin
  | { readonly do: 'end'; readonly name: string; readonly isFailed: boolean }
  | { readonly do: 'end-all'; readonly isFailed: boolean };

const none: readonly Change[] = [];
const end = (name: string, isFailed = false): readonly Change[] => [{ do: 'end', name, isFailed }];

export function changesOf(row: RunRow): readonly Change[] {
  switch (row.type) {
    case 'output.chunk':
    case 'cairn.model.requested':
    case 'cairn.model.returned':
    case 'cairn.model.abandoned':
      return modelChanges(row);
    case 'agent.toolCalled': {
      const { callId, toolName, attempt = 1, agentId } = row.payload;
      return [{ do: 'begin', name: `tool:${callId}`, kind: 'tool', label: toolName, attempt, agentId }];
    }
    case 'agent.toolReturned':
      return end(`tool:${row.payload.callId}`, row.payload.error !== undefined);
    case 'interrupt.requested': {
      const { interruptId, key, kind, agentId } = row.payload;
      return [{ do: 'begin', name: `wait:${interruptId ?? key}`, kind: 'waiting', label: kind, attempt: 1, agentId }];
    }
    case 'interrupt.resolved':
      return end(`wait:${row.payload.interruptId}`);
    case 'run.paused':
      return [{ do: 'begin', name: 'pause', kind: 'waiting', label: 'paused', attempt: 1 }];
    case 'run.resumed':
      return end('pause');
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
      return [{ do: 'end-all', isFailed: row.type !== 'run.completed' }];
    default:
      return workflowChanges(row);
  }
}

/** A reader without operator rows sees a turn from its first text on. */
function modelChanges(row: Extract<RunRow, { type: 'output.chunk' | `cairn.model.${string}` }>): readonly Change[] {
  switch (row.type) {
    case 'output.chunk': {
      const { channel, nodeId, isLast } = row.payload;
      const name = `model:${channel ?? nodeId}`;
      return isLast ? end(name) : [{ do: 'begin-if-new', name, kind: 'thinking', label: 'model', attempt: 1 }];
    }
    case 'cairn.model.requested': {
      const { callId, attempt, agentId, model = 'model' } = row.payload;
      return [{ do: 'begin', name: `model:${callId}`, kind: 'thinking', label: model, attempt, agentId }];
    }
    case 'cairn.model.returned':
      return end(`model:${row.payload.callId}`, row.payload.error !== undefined);
    case 'cairn.model.abandoned':
      return end(`model:${row.payload.callId}`, true);
    default:
      return none;
  }
}

function workflowChanges(row: RunRow): readonly Change[] {
  switch (row.type) {
    case 'node.started': {
      const { nodeId, agent, attempt = 0 } = row.payload;
      if (agent !== undefined) return none;
      return [{ do: 'begin', name: `node:${nodeId}`, kind: 'step', label: nodeId, attempt: attempt + 1 }];
    }
    case 'node.completed':
    case 'node.skipped':
      return end(`node:${row.payload.nodeId}`);
    case 'node.failed':
    case 'node.cancelled':
      return end(`node:${row.payload.nodeId}`, true);
    case 'cairn.timer.set':
      return row.payload.purpose === 'delay' || row.payload.purpose === 'retry'
        ? [
            {
              do: 'begin',
              name: `timer:${row.payload.timerId}`,
              kind: 'waiting',
              label: row.payload.purpose,
              attempt: 1,
            },
          ]
        : none;
    case 'cairn.timer.fired':
      return end(`timer:${row.payload.timerId}`);
    default:
      return childChanges(row);
  }
}

function childChanges(row: RunRow): readonly Change[] {
  switch (row.type) {
    case 'cairn.step.requested': {
      const { childRunId, childWorkflowId = 'child run', callId, step, attempt } = row.payload;
      return childRunId === undefined
        ? [{ do: 'begin', name: `tool:${callId}`, kind: 'tool', label: step, attempt }]
        : [beginChild(childRunId, childWorkflowId)];
    }
    case 'node.dispatched':
      return [beginChild(row.payload.childRunId, row.payload.childWorkflowId)];
    case 'cairn.step.returned': {
      const { childRunId, callId, error } = row.payload;
      return end(childRunId === undefined ? `tool:${callId}` : `child:${childRunId}`, error !== undefined);
    }
    case 'core.workflowChain.event': {
      const { childRunId, phase } = row.payload;
      const isEnd = phase.startsWith('child.') || phase === 'dispatch.failed';
      return childRunId !== undefined && isEnd ? end(`child:${childRunId}`, phase !== 'child.completed') : none;
    }
    default:
      return none;
  }
}

const beginChild = (childRunId: string, label: string): Change => ({
  do: 'begin-if-new',
  name: `child:${childRunId}`,
  kind: 'child',
  label,
  attempt: 1,
  childRunId,
});
