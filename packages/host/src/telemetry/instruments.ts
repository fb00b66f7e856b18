/** Every metric of the host as data: name, unit, attributes and buckets. The protocol defines the `openwop.*` ones. */

export interface Instrument {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** UCUM unit, as in OpenTelemetry. */
  readonly unit: string;
  readonly description: string;
  /** Attribute names; values are given in this order. Never a run id, whose cardinality is unbounded. */
  readonly attributes: readonly string[];
  /** Upper bounds of a histogram's buckets. */
  readonly bounds?: readonly number[];
}

const counter = (name: string, unit: string, description: string, ...attributes: string[]): Instrument => ({
  name,
  kind: 'counter',
  unit,
  description,
  attributes,
});

const gauge = (name: string, unit: string, description: string, ...attributes: string[]): Instrument => ({
  ...counter(name, unit, description, ...attributes),
  kind: 'gauge',
});

const histogram = (
  name: string,
  unit: string,
  description: string,
  bounds: readonly number[],
  ...attributes: string[]
): Instrument => ({ ...counter(name, unit, description, ...attributes), kind: 'histogram', bounds });

const tenant = 'openwop.tenant_id';
const workflow = 'openwop.workflow_id';
const status = 'openwop.run_status';
const nodeType = 'openwop.node_type';

/** Counted from run events. */
export const runInstruments = {
  created: counter('openwop.run.created', '{run}', 'Runs that were started.', workflow, tenant),
  enqueued: counter('openwop.queue.enqueued', '{run}', 'Runs that entered the queue.', tenant),
  completed: counter('openwop.run.completed', '{run}', 'Runs that ended.', status, workflow, tenant),
  duration: histogram(
    'openwop.run.duration',
    's',
    'From the start of a run to its end, with the time it waited.',
    [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600],
    status,
    workflow,
    tenant,
  ),
  backlog: histogram(
    'openwop.run.backlog',
    's',
    'From the creation of a run to the start of its first node.',
    [0.05, 0.1, 0.5, 1, 5, 30, 60, 300, 1800],
    workflow,
    tenant,
  ),
  nodeCompleted: counter('openwop.node.completed', '{node}', 'Executions of nodes that ended.', nodeType, status),
  nodeDuration: histogram(
    'openwop.node.duration',
    's',
    'Time of one attempt of a node.',
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60],
    nodeType,
    status,
  ),
  nodeAttempts: counter('openwop.node.attempts', '{attempt}', 'Attempts of nodes after the first.', nodeType),
  activities: counter('openwop.activity.invocations', '{call}', 'Calls to the outside.', 'provider', status),
  activityDuration: histogram(
    'openwop.activity.duration',
    's',
    'Time of one call to the outside.',
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    'provider',
    status,
  ),
  tokens: counter('openwop.activity.tokens', '{token}', 'Tokens that models billed.', 'provider', 'direction'),
  cost: counter('openwop.cost.usd', 'USD', 'What models cost, as estimated.', 'provider', 'openwop.cost.estimated'),
  capExceeded: counter('openwop.cap.exceeded', '{breach}', 'Limits that runs ran into.', 'openwop.cap_kind', workflow),
  asked: counter('openwop.interrupt.requested', '{interrupt}', 'Questions that runs asked.', 'openwop.interrupt_kind'),
  askedDuration: histogram(
    'openwop.interrupt.duration',
    's',
    'From a question to its answer or its end.',
    [1, 10, 60, 300, 900, 1800, 3600, 14_400, 86_400, 604_800],
    'openwop.interrupt_kind',
    status,
  ),
  decisions: counter(
    'openwop.orchestrator.decisions',
    '{decision}',
    'Decisions of orchestrators.',
    'openwop.orchestrator.decision_kind',
    workflow,
    tenant,
  ),
  iterations: histogram(
    'openwop.orchestrator.iterations',
    '{iteration}',
    'Decisions of orchestrators in one run.',
    [1, 2, 5, 10, 25, 50, 100, 250],
    workflow,
    tenant,
  ),
} as const satisfies Record<string, Instrument>;

/** Measured in the host itself. */
export const hostInstruments = {
  active: gauge('openwop.run.active', '{run}', 'Runs that have not ended, waiting ones among them.', tenant),
  depth: gauge('openwop.queue.depth', '{run}', 'Runs that are due and that no node steps.', tenant),
  claimConflicts: counter(
    'openwop.run.claim.conflicts',
    '{conflict}',
    'Runs refused because their scope has one that is active.',
    'transport',
    tenant,
  ),
  requests: histogram(
    'http.server.request.duration',
    's',
    'Time to answer a request; streams and long polls are left out.',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    'http.request.method',
    'http.route',
    'http.response.status_code',
  ),
  refusals: counter('cairn.http.refusals', '{answer}', 'Answers with an error, by its code.', 'error.type'),
  eventLoopDelay: histogram(
    'cairn.eventloop.delay',
    's',
    'How late the event loop was, sampled every 10 ms since the first reading.',
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
  ),
  tenantUsed: gauge('cairn.tenant.used', '{use}', 'What a tenant uses of a limited resource.', tenant, 'resource'),
  tenantLimit: gauge('cairn.tenant.limit', '{use}', 'What each tenant may use of a resource.', 'resource'),
  streams: gauge('cairn.streams.open', '{stream}', 'Event streams that are open.'),
  polls: gauge('cairn.polls.open', '{request}', 'Long polls that wait.'),
  appends: histogram(
    'cairn.log.append.duration',
    's',
    'From asking for an append to its being durable.',
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
  ),
  appendFailures: counter(
    'cairn.log.append.failures',
    '{append}',
    'Appends that were refused or failed.',
    'error.type',
  ),
  commits: counter('cairn.log.commits', '{commit}', 'Transactions of the log.'),
  rows: counter('cairn.log.rows', '{row}', 'Rows written to the log.'),
  wal: gauge('cairn.log.wal.size', 'By', 'Size of the write-ahead log.'),
  storeSize: gauge('cairn.store.size', 'By', 'Size of the database, with its write-ahead log.'),
  lateResults: counter(
    'cairn.tools.late_results',
    '{result}',
    'Results of tools that came after their call was given up, and were dropped.',
    'openwop.tool_id',
  ),
  purgedRuns: counter('cairn.retention.runs', '{run}', 'Runs that were purged.'),
  purgedBytes: counter('cairn.retention.bytes', 'By', 'Bytes of events that were purged.'),
  keptTrees: counter('cairn.retention.kept', '{tree}', 'Trees that a rule let go but that forks or active runs need.'),
  spansExported: counter('cairn.otel.spans', '{span}', 'Spans that were exported, or given up.', 'outcome'),
  spansBehind: gauge('cairn.otel.behind', 's', 'Age of the oldest event whose spans wait to be exported.'),
} as const satisfies Record<string, Instrument>;
