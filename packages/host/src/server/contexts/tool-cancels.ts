/** Cancels single tool calls of a context. The agent goes on with the failed result. */
import { type ContextId, parseShape, type RunId, type RunView, TerminalError, toolCancelled } from '@cairn/protocol';
import { z } from 'zod';
import { idTokenOf } from '../../engine/creation/id-token.ts';
import type { Engine, RunCancelled } from '../../engine/engine.ts';
import type { LoadView } from '../../engine/loading/run-view.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunRecord } from '../../log/ports/run-index.ts';
import { sha256 } from '../compose.ts';
import { type Call, pathParam, type Route } from '../http/routes.ts';
import { contextHasNo, isPlainId } from '../http/unknown-id.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { visibleContext } from './context-params.ts';

export interface ToolCancelSurface {
  readonly engine: Engine;
  readonly log: EventLog;
  readonly contexts: Contexts;
  readonly loadView: LoadView;
}

const cancelBody = z.strictObject({ reason: z.string().max(2_000).optional() });

export function toolCancelRoutes(surface: ToolCancelSurface): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/api/contexts/{contextId}/tools/{toolCallId}/cancel',
      scope: 'runs:cancel',
      handle: (call) => cancel(call, surface),
      doc: {
        id: 'cancelToolCall',
        summary: 'Cancel one tool call',
        body: cancelBody.optional(),
        responses: { 202: { description: 'The call has ended with `tool_canceled`.', shape: toolCancelled } },
        errors: ['not_found', 'conflict', 'run_imported'],
      },
    },
  ];
}

async function cancel(call: Call, surface: ToolCancelSurface): Promise<string> {
  const { reason } = parseShape(cancelBody, call.request.body ?? {}, 'The cancel request');
  const contextId = await visibleContext(call, surface.contexts);
  const toolCallId = pathParam(call, 'toolCallId');
  const runId = await runOf(toolCallId, contextId, surface);
  if (runId === null) throw unknownCall(toolCallId);
  const { tenant, principal } = call.caller;
  return recordedCommand<RunCancelled>(call, {
    status: 202,
    body: () => JSON.stringify({ toolCallId, taskId: runId }),
    command: (idempotency) =>
      surface.engine.cancelCall({ tenant, runId, callId: toolCallId, reason, principal, idempotency }),
  });
}

const PAGE = 100;
/** Runs of a context whose ids are compared with that of the call: more than a context ever has, in about 20 ms. */
const MAX_PAGES = 100;

/**
 * The run of a call: the newest whose call is open, else the newest that may have had it. The request names no run, so the
 * id is taken apart: it has the token of the run where the call began, which forks keep. Null if no run of the context can
 * have it.
 */
async function runOf(toolCallId: string, contextId: ContextId, surface: ToolCancelSurface): Promise<RunId | null> {
  const { contexts, loadView } = surface;
  const token = /^call_([0-9a-f]+)_/.exec(toolCallId)?.[1] ?? null;
  for (const isOpen of [true, undefined] as const) {
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { runs, nextCursor } = await contexts.runs({ contextId, isOpen, limit: PAGE, cursor });
      for (const record of runs) {
        if (!mayHave(record, token)) continue;
        const view = await loadView(record.runId);
        if (isOpen === true ? isOpenIn(view, toolCallId) : isOfNode(view, toolCallId)) return record.runId;
      }
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
  }
  return null;
}

/** A run from before tokens has ids without one; only those that still run are looked at. */
const mayHave = ({ originRunId, endedAt }: RunRecord, token: string | null): boolean =>
  token === null ? endedAt === null : idTokenOf(originRunId, sha256) === token;

const isOpenIn = ({ toolCalls, nodeStates }: RunView, toolCallId: string): boolean =>
  Object.hasOwn(toolCalls, toolCallId) ||
  Object.values(nodeStates).some((node) => node.active && node.toolCallId === toolCallId);

/** Calls that ended are not in the view, and the request has only the id: it begins with a visit of its node. */
function isOfNode({ nodeStates }: RunView, toolCallId: string): boolean {
  const [, nodeId = '', visit = ''] = /^(?:call_[0-9a-f]+_)?(.+)#(\d+)(?:\.\d+\/t\d+\.\d+)?$/.exec(toolCallId) ?? [];
  const node = Object.hasOwn(nodeStates, nodeId) ? nodeStates[nodeId] : undefined;
  return node !== undefined && Number(visit) <= node.visit;
}

const unknownCall = (toolCallId: string): TerminalError =>
  new TerminalError('not_found', {
    message: contextHasNo('tool call', toolCallId, isPlainId(toolCallId)),
    hint: 'A tool-start event has the toolCallId.',
  });
