/** The state of a run before its first event. */
import { newRunView, type RunId } from '@cairn/protocol';
import { newAccount } from '../family/account.ts';
import { DEFAULT_RUNS_PER_TREE } from '../family/budget.ts';
import type { RunState } from './state.ts';

/** `originRunId` is the run that wrote the first row; a fork shares that row. */
export const newRunState = (runId: RunId, originRunId: RunId = runId): RunState => ({
  runId,
  payloadRunId: originRunId,
  view: newRunView(runId),
  nextSeq: 0,
  now: 0,
  limits: { maxNodeExecutions: 0, timeoutMs: null },
  bytes: 0,
  logBytes: 0,
  account: newAccount({ maxRuns: DEFAULT_RUNS_PER_TREE }),
  agents: {},
  attachedTo: null,
  depth: 0,
  memoryScope: { runId, isolated: false },
  children: {},
  childCount: 0,
  orchestration: null,
  ending: null,
  orphans: [],
  inner: {},
  active: {},
  activeCount: 0,
  visits: {},
  edges: {},
  arrivals: {},
  late: {},
  exits: {},
  live: {},
  loopbacks: {},
  iterations: {},
  ready: [],
  unreachable: [],
  queued: {},
  outputs: {},
  // A Map: as names of properties V8 would keep the ids, which are those of this run alone, in its table of strings.
  calls: new Map(),
  awaitedCalls: 0,
  timers: {},
  pending: [],
  executions: 0,
  interruptCount: 0,
  cancel: null,
  pause: null,
  failure: null,
  ended: false,
});
