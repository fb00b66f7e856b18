/** Operator notices of a host: stable names to search and alert on, each with a sentence for people. */

/** A notice may carry a more specific sentence. `docs/reference/observability.md` lists every name. */
export const operatorEvents = {
  'run.stopped': 'The engine met a defect in a run and failed that run.',
  'run.beyond_limit':
    'A decision of a run was beyond a limit, such as the size of an event. The run failed with this code.',
  'run.load_failed': 'A run could not be read. The host tries again.',
  'run.set_aside': 'A run cannot be stepped: its code is missing or its rows are damaged. The host retries it later.',
  'run.suspected': 'The last process died while it decided this run. The host tries the run once more, alone.',
  'run.quarantined': 'The process died twice while it decided this run. The host failed the run and goes on.',
  'context.turn_failed':
    'A message that waited could not be started. It is tried again at the next end of a task in its context, and at the next start.',
  'agent.tool_missing': 'An agent of the program names a tool that is not there. It works without it.',
  'tool.late_result': 'A tool returned a result after its call was canceled or given up. The host dropped it.',
  'crash.record_failed': 'The record of decisions could not be written. If the process dies, no run is blamed for it.',
  'run.notify_failed': 'A run could not be told that its parent or child run ended.',
  'store.append_failed': 'An append failed. The host tries again.',
  'store.read_failed': 'The store could not be read. The host tries again.',
  'store.fault': 'The store met an internal error.',
  'store.migrating': 'The host migrates its database before it serves. A large one may take minutes.',
  'checkpoint.save_failed': 'A checkpoint could not be saved. The next load of the run reads a longer tail.',
  'lease.release_failed': 'A lease could not be released. It ends with the session of this host.',
  'queue.claim_failed': 'Due runs could not be claimed. The host tries again.',
  'session.renew_failed': 'The session that holds the leases of this host could not be renewed.',
  'cluster.job_failed':
    'Work that one node of the cluster does could not be started or continued. The host tries again.',
  'cluster.notice_failed': 'A notice to the other nodes could not be sent. They learn of the change later.',
  'cluster.beat_failed': 'The node could not tell the others what it uses. Limits count what was known last.',
  'process.rejection':
    'A promise was rejected and nobody handled it, such as one that a tool does not await. The host goes on.',
  'request.failed': 'A request failed inside the host.',
  'stream.read_failed': 'A stream could not be read on. The host cut the connection.',
  'idempotency.renewal_failed': 'The claim of a slow request could not be renewed. It is tried again.',
  'idempotency.record_failed': 'The response of an idempotent request could not be recorded.',
  'idempotency.expire_failed': 'Old idempotency records could not be removed.',
  'retention.swept': 'Runs that the rules of retention let go were purged.',
  'retention.failed': 'Runs could not be purged. The host tries again.',
  'mcp.call_failed': 'The run of an MCP call could not be followed. The run goes on.',
  'causation.ignored':
    'A caller named a run of another host as the cause of its call, but its key is not for that host. The run is a top-level run.',
  'identity.unresolved':
    'The identity of an agent in another system could not be resolved. Runs go on, and record that there is no evidence.',
  'mcp.unavailable': 'An MCP server could not be asked for its tools. Agents do without them until it can.',
  'mcp.process_ended': 'The process of an MCP server ended. The host starts it again when it is needed.',
  'mcp.stderr': 'A line that an MCP server wrote to its standard error.',
  'mcp.recovered': 'An MCP server that was unavailable lists its tools again.',
  'mcp.tools_refused': 'An MCP server lists tools that the host cannot offer. They are left out.',
  'a2a.cancel_failed':
    'A task of an A2A peer could not be canceled there, and the host has stopped asking. Nobody here waits for it any more.',
  'config.unused_keys': 'The configuration has keys that this version does not use.',
  'config.weak_secret': 'A key or secret can be guessed. A host that others can reach refuses it.',
  'jwks.fetch_failed': 'The key set of the token issuer could not be fetched.',
  'jwks.recovered': 'The key set of the token issuer can be fetched again.',
  'webhook.read_failed': 'The log could not be read for a subscription. The host tries again.',
  'webhook.save_failed': 'The position of a subscription could not be saved. The host tries again.',
  'webhook.delivery_failed': 'A delivery met an internal error. The host tries again.',
  'webhook.delivery_abandoned': 'A delivery failed too often and became a dead letter.',
  'webhook.paused': 'A receiver failed too often. The host pauses its deliveries for an hour.',
  'webhook.stopped': 'A receiver failed too often. The host stopped its deliveries.',
  'a2a.push_failed': 'A push notification met an internal error. The host tries again.',
  'a2a.push_abandoned': 'A receiver of push notifications failed too often. The host removed its configuration.',
  'telemetry.export_failed': 'The collector does not take the export. The host tries again; runs go on.',
  'telemetry.export_recovered': 'The collector takes the export again.',
  'telemetry.run_skipped': 'A run could not be read and is missing from the metrics.',
} as const;

export type OperatorEvent = keyof typeof operatorEvents;
