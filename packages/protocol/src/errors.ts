/** The closed list of error codes, each with one HTTP status and one CLI exit code, and the error classes that carry them. */

/** CLI exit codes: 1 failed run or host fault, 2 usage, 3 not found, 4 refused, 5 waiting on a human. */
interface ErrorKind {
  readonly status: number;
  readonly exit: 1 | 2 | 3 | 4 | 5;
}

const kind = (status: number, exit: ErrorKind['exit']): ErrorKind => ({ status, exit });

/** A run or a node fails with it. */
const failure = kind(422, 1);

/** A code that only runs or nodes report has the status of the request that it would fail. */
export const errorKinds = {
  // requests
  validation_error: kind(400, 2),
  unsupported_stream_mode: kind(400, 2),
  unsupported_mock_provider: kind(400, 2),
  capability_required: kind(400, 4),
  unauthenticated: kind(401, 4),
  key_expired: kind(401, 4),
  forbidden: kind(403, 4),
  mock_provider_forbidden: kind(403, 4),
  credential_forbidden: kind(403, 4),
  force_engine_version_forbidden: kind(403, 4),
  not_found: kind(404, 3),
  interrupt_not_found: kind(404, 3),
  method_not_allowed: kind(405, 2),
  conflict: kind(409, 4),
  artifact_version_conflict: kind(412, 4),
  artifact_too_large: kind(413, 4),
  artifact_chunk_out_of_order: kind(409, 4),
  run_terminal: kind(409, 4),
  run_already_active: kind(409, 4),
  interrupt_already_resolved: kind(409, 4),
  input_already_answered: kind(409, 4),
  auth_expired: kind(409, 4),
  idempotency_key_mismatch: kind(409, 4),
  idempotency_in_flight: kind(409, 4),
  run_imported: kind(409, 4),
  interrupt_expired: kind(410, 4),
  run_purged: kind(410, 3),
  payload_too_large: kind(413, 2),
  definition_too_large: kind(413, 2),
  unsupported_media_type: kind(415, 2),
  precondition_required: kind(428, 4),
  upload_stalled: kind(408, 1),
  interrupt_cancelled: kind(422, 4),
  input_invalid: kind(422, 4),
  invalid_from_seq: kind(422, 4),
  replay_memory_snapshot_unavailable: kind(422, 4),
  replay_diverged_at_refusal: failure,
  replay_source_missing: failure,
  rate_limited: kind(429, 4),
  internal_error: kind(500, 1),
  service_unavailable: kind(503, 1),
  quota_exceeded: kind(507, 4),
  // runs and nodes
  capability_not_provided: kind(501, 1),
  recursion_limit_exceeded: failure,
  run_depth_exceeded: failure,
  unknown_child_workflow: failure,
  child_failed: failure,
  no_pending_decision: failure,
  fan_out_unsupported: failure,
  run_timeout: failure,
  run_quarantined: kind(500, 1),
  node_timeout: failure,
  loop_limit_exceeded: failure,
  clarification_limit_exceeded: failure,
  approval_timeout: failure,
  interrupt_timeout: failure,
  approval_rejected: failure,
  node_execution_failed: failure,
  step_interrupted: failure,
  config_validation_failed: failure,
  expression_failed: failure,
  channel_access_denied: kind(400, 1),
  conformance_test_failure: failure,
  event_too_large: kind(413, 1),
  run_state_too_large: kind(413, 1),
  run_log_too_large: kind(413, 1),
  prompt_variable_unresolved: failure,
  sensitive_value_unavailable: failure,
  // model calls
  model_not_configured: failure,
  model_call_failed: kind(502, 1),
  model_refused: failure,
  // agents
  handoff_task_schema_violation: failure,
  handoff_return_schema_violation: failure,
  decision_rejected: failure,
  input_rejected: failure,
  budget_exhausted: failure,
  // tools
  tool_not_found: kind(404, 3),
  tool_invalid_arguments: kind(400, 2),
  tool_failed: failure,
  tool_timeout: kind(504, 1),
  tool_canceled: kind(409, 1),
  tool_diverged: failure,
  auth_denied: failure,
  // outbound requests
  http_url_rejected: kind(400, 4),
  http_timeout: kind(504, 1),
  http_network_error: kind(502, 1),
  // other hosts and their agents
  external_call_failed: kind(502, 1),
  interop_version_unsupported: kind(502, 1),
  remote_task_failed: kind(502, 1),
  remote_task_canceled: kind(502, 1),
  rejected_by_remote: kind(502, 1),
  identity_unresolved: kind(502, 1),
  // the store
  lease_lost: kind(503, 1),
  lease_held: kind(503, 1),
  store_full: kind(503, 1),
  store_locked: kind(503, 1),
  store_newer: kind(503, 1),
  store_older: kind(503, 1),
  store_corrupt: kind(503, 1),
  store_missing: kind(503, 1),
  store_mismatch: kind(503, 1),
  host_key_lost: kind(503, 1),
  data_folder_exposed: kind(503, 1),
  store_failed: kind(503, 1),
  store_closed: kind(503, 1),
  // packs
  pack_integrity_mismatch: kind(409, 4),
  pack_integrity_failure: kind(400, 4),
  pack_signature_invalid: kind(400, 4),
  pack_kind_invalid: kind(400, 4),
  invalid_manifest: kind(400, 4),
  unsupported_runtime: kind(400, 4),
  pack_runtime_requirement_unmet: kind(400, 4),
  pack_version_not_found: kind(404, 3),
  pack_dependency_conflict: kind(409, 4),
  pack_dependency_cycle: kind(400, 4),
  pack_peer_dependency_missing: kind(400, 4),
  pack_peer_dependency_undefined: kind(400, 4),
  unsupported_model_class: kind(400, 4),
  invalid_pack_scope: kind(400, 4),
  tarball_gunzip_failed: kind(400, 4),
  tarball_too_large: kind(400, 4),
  tarball_tar_parse_failed: kind(400, 4),
  tarball_path_traversal: kind(400, 4),
  tarball_entry_missing: kind(400, 4),
  tarball_entry_too_large: kind(400, 4),
  tarball_manifest_missing: kind(400, 4),
  tarball_manifest_too_large: kind(400, 4),
  tarball_manifest_not_json: kind(400, 4),
  // bundles
  bundle_invalid: kind(422, 4),
  checkpoint_invalid: kind(422, 4),
  // configuration
  config_invalid: kind(400, 2),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** Facts a failure may carry; they become `details` in the error envelope. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface CairnErrorOptions {
  /** What happened, with the values. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

const brand = Symbol.for('cairn.error');

/** The base of both families. Recognise it by code with `isCairnError`, so that two copies of this package agree. */
export class CairnError extends Error {
  override readonly name: string = 'CairnError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: ErrorDetails | undefined;
  /** Whether the same request may succeed later, unchanged. */
  readonly retryable: boolean = false;

  constructor(code: ErrorCode, options: CairnErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** Trying again will not help: the request, the definition or the answer has to change. */
export class TerminalError extends CairnError {
  override readonly name = 'TerminalError';
}

/** Trying again may help: a lost race, a lease that moved, a full disk, a busy store. */
export class RetryableError extends CairnError {
  override readonly name = 'RetryableError';
  override readonly retryable = true;
}

/** True for an error of either family, of this copy of the package or another; with a code, only for that code. */
export function isCairnError(error: unknown, code?: ErrorCode): error is CairnError {
  if (typeof error !== 'object' || error === null) return false;
  try {
    return brand in error && (code === undefined || ('code' in error && error.code === code));
  } catch {
    // A proxy may throw on inspection.
    return false;
  }
}

/** The message of a thrown value. Values that throw on inspection are handled too. */
export function thrownText(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'something that cannot be shown';
  }
}

/** Asserts an internal invariant, also in production. A broken one stops the run, not the host. */
export function invariant(condition: unknown, name: string, facts: ErrorDetails = {}): asserts condition {
  if (condition) return;
  throw new TerminalError('internal_error', {
    message: `Broken invariant ${name}: ${JSON.stringify(facts)}`,
    hint: 'This is a defect in Cairn. Keep the data folder and report it with the message above.',
    details: { invariant: name, ...facts },
  });
}

/** Quotes and truncates outside text (from a model, a tool, a peer), so that it cannot flood a log. */
export function quoted(text: string, max = 200): string {
  return JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
}
