/** `ListTasks`: the root tasks of the caller's tenant or of one of its contexts, the newest first. */
import { isoTime, type JsonObject, type RunStatus } from '@cairn/protocol';
import type { A2aState, A2aTask } from '../../bridges/a2a/update.ts';
import { v1State, v1Task } from '../../bridges/a2a/v1.ts';
import type { Contexts } from '../../log/ports/contexts.ts';
import type { EventLog } from '../../log/ports/event-log.ts';
import type { RunIndex, RunRecord } from '../../log/ports/run-index.ts';
import { contextNamed } from '../contexts/context-params.ts';
import type { PageCursors } from '../http/page-cursors.ts';
import type { Call } from '../http/routes.ts';
import { type ListParams, listParamsOf } from './inbound.ts';
import { RpcError } from './rpc.ts';
import { type A2aTasks, shownTask } from './tasks.ts';

export interface ListPorts {
  readonly log: EventLog;
  readonly runIndex: RunIndex;
  readonly contexts: Contexts;
  readonly cursors: PageCursors;
  readonly tasks: A2aTasks;
  readonly hostId: string;
}

/** What a page reads with artifacts: each task is read from the log. */
const MAX_WITH_ARTIFACTS = 10;

/** Pages of the index that are searched for one page of the answer. */
const MAX_READS = 4;

type Listed = RunRecord & { readonly shownStatus?: RunStatus };

export async function listedTasks(call: Call, params: JsonObject, ports: ListPorts): Promise<object> {
  const asked = listParamsOf(params);
  const state = stateAsked(asked);
  const size = Math.min(asked.pageSize ?? 50, asked.includeArtifacts ? MAX_WITH_ARTIFACTS : 100);
  const page = await pageOf(call, asked, ports);
  let { runs, cursor } = await page(asked.pageToken === '' ? undefined : asked.pageToken, size);
  const found: Listed[] = [];
  for (let reads = 1; ; reads += 1) {
    found.push(...runs.filter((run) => run.parentRunId === null && (state === null || stateOf(run) === state)));
    if (cursor === null || found.length >= size || reads >= MAX_READS) break;
    ({ runs, cursor } = await page(cursor, size - found.length));
  }
  const tasks = [];
  for (const run of found) tasks.push(v1Task(await taskOf(run, asked, ports)));
  // The index counts nothing: the size of what is shown, and one more if something follows.
  const totalSize = tasks.length + (cursor === null ? 0 : 1);
  return { tasks, nextPageToken: cursor ?? '', pageSize: size, totalSize };
}

type ReadPage = (
  token: string | undefined,
  limit: number,
) => Promise<{ readonly runs: readonly Listed[]; readonly cursor: string | null }>;

async function pageOf(
  { caller }: Call,
  { contextId }: ListParams,
  { runIndex, contexts, cursors }: ListPorts,
): Promise<ReadPage> {
  const { tenant } = caller;
  const context = contextId === undefined ? null : await contextNamed(contextId, caller, contexts);
  return async (token, limit) => {
    const cursor = cursors.placeOf(tenant, token);
    const { runs, nextCursor } =
      context === null
        ? await runIndex.list({ tenant, limit, cursor })
        : await contexts.runs({ contextId: context, parentRunId: null, limit, cursor });
    return { runs, cursor: cursors.shown(tenant, nextCursor) };
  };
}

function stateAsked({ status }: ListParams): A2aState | null {
  if (status === undefined || status === '' || status === 'TASK_STATE_UNSPECIFIED') return null;
  const found = Object.values(states).find((state) => v1State(state) === status);
  if (found === undefined) throw new RpcError('params', 'status: not a state that a task of this host can have.');
  return found;
}

const states: Readonly<Record<RunStatus, A2aState>> = {
  pending: 'submitted',
  running: 'working',
  paused: 'working',
  cancelling: 'working',
  'waiting-approval': 'input-required',
  'waiting-input': 'input-required',
  'waiting-external': 'input-required',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
};

const stateOf = ({ status, shownStatus = status }: Listed): A2aState => states[shownStatus];

async function taskOf(run: Listed, asked: ListParams, { tasks, hostId }: ListPorts): Promise<A2aTask> {
  if (asked.includeArtifacts) return shownTask(await tasks.read(run), asked.historyLength);
  const { runId, contextId, createdAt, endedAt } = run;
  return {
    id: runId,
    contextId,
    status: { state: stateOf(run), timestamp: isoTime(endedAt ?? createdAt) },
    artifacts: [],
    history: [],
    metadata: { openwop: { runId, hostId } },
  };
}
