/** Starts a run from a request: parses and validates the body, and refuses what this host does not support. */
import {
  agentIdProblem,
  CAUSATION_KEY,
  type ContextId,
  type CreateRun,
  configurable as configurableShape,
  createRun,
  invariant,
  isCairnError,
  isJsonObject,
  isTerminalStatus,
  type JsonObject,
  parseShape,
  quoted,
  RetryableError,
  type RunOptions,
  TerminalError,
} from '@cairn/protocol';
import { agentRun } from '../../agents/agent-run.ts';
import { checkRunModelOptions, type ModelAccess } from '../../agents/models/run-model-options.ts';
import type { Engine, RunStarted, StartRun } from '../../engine/engine.ts';
import type { Report } from '../../engine/ports.ts';
import { inboundTrace } from '../../telemetry/trace-context.ts';
import { utf8Size } from '../../utf8.ts';
import { checkedUrl } from '../egress/checked-url.ts';
import type { Egress } from '../egress/egress.ts';
import type { Call } from '../http/routes.ts';
import { recordedCommand } from '../idempotency/recorded-commands.ts';
import { statedCaller } from '../peers/stated-caller.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import { refuseManyOptions } from './option-counts.ts';

export interface CreateRunPorts {
  readonly engine: Engine;
  /** The id of this host, which a `run_already_active` error names. */
  readonly hostId: string;
  readonly egress: Egress;
  readonly report: Report;
  readonly webhooks: Pick<Webhooks, 'expectCallbacks'>;
  /** The models that a run may request. */
  readonly models: ModelAccess;
  /** Whether this host runs agents. */
  readonly runsAgents: boolean;
}

/** `POST /v1/runs`. */
export async function createRunFrom(call: Call, ports: CreateRunPorts): Promise<string> {
  const { engine } = ports;
  refuseManyOptions(call.request.body);
  const body = withFlatOptions(parseShape(createRun, call.request.body, 'The run'));
  refuseUnkept(body, ports);
  refuseTestOptions(call);
  checkRunModelOptions(body.configurable ?? {}, call.caller.tenant, ports.models);
  const { tenant, principal, toolScopes } = call.caller;
  const inputs = (body.inputs ?? {}) as JsonObject;
  const whatRuns = whatRunsOf(body, inputs);
  // A claim of the caller. The host records the part that it can trust; the rest is no fact of the run.
  const { [CAUSATION_KEY]: stated, ...metadata } = body.metadata ?? {};
  const request = {
    tenant,
    principal,
    toolScopes,
    ...whatRuns,
    inputs,
    options: runOptions(body.metadata === undefined ? body : { ...body, metadata }),
    contextId: body.configurable?.['cairn.contextId'] as ContextId | undefined,
    trace: inboundTrace(call.request.headers),
    caller: statedCaller(call.caller, { stated, cause: 'a2a-message' }, ports.report),
    scopeId: body.scopeId,
    isAloneInScope: isDedupEnforced(call, body),
    callbackUrl: await callbackUrlOf(call, body, ports),
  };
  return recordedCommand<RunStarted>(call, {
    status: 201,
    body: (started) => createdBody(started, whatRuns.workflowId),
    command: (idempotency) => withHost(engine.start({ ...request, idempotency }), ports),
  });
}

async function callbackUrlOf(call: Call, { callbackUrl }: CreateRun, { egress, webhooks }: CreateRunPorts) {
  if (callbackUrl === undefined) return undefined;
  await checkedUrl(egress, callbackUrl, 'callbackUrl');
  await webhooks.expectCallbacks(call.caller.tenant);
  return callbackUrl;
}

function isDedupEnforced(call: Call, { scopeId }: CreateRun): boolean {
  const asked = call.request.headers['x-dedup'];
  if (asked === undefined) return false;
  const refuse = (message: string, hint: string) =>
    new TerminalError('validation_error', { message, hint, details: { parameter: 'X-Dedup' } });
  if (asked !== 'enforce')
    throw refuse(`X-Dedup may be "enforce", not ${quoted(String(asked), 60)}.`, 'Or leave it out.');
  if (scopeId === undefined) throw refuse('X-Dedup needs a scopeId in the body.', 'Name what the run works on.');
  return true;
}

/** Adds the host id to `run_already_active`; only the HTTP surface knows it. */
async function withHost<Started>(starting: Promise<Started>, { hostId }: CreateRunPorts): Promise<Started> {
  try {
    return await starting;
  } catch (error) {
    if (!isCairnError(error, 'run_already_active')) throw error;
    throw new RetryableError('run_already_active', {
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      details: { ...error.details, activeHost: hostId },
      cause: error,
    });
  }
}

/** Refuses fields that this host does not support instead of ignoring them. */
function refuseUnkept(body: CreateRun, { runsAgents }: CreateRunPorts): void {
  if (body.mode !== undefined || body.evalSuiteRef !== undefined) {
    throw new TerminalError('capability_not_provided', {
      message: 'This host does not run evaluations.',
      details: { requiredCapability: 'eval' },
    });
  }
  for (const [field, requiredCapability] of Object.entries(gatedFields)) {
    if (!Object.hasOwn(body, field) || (field === 'agentId' && runsAgents)) continue;
    throw new TerminalError('capability_required', {
      message: `This host does not offer what ${field} asks for.`,
      hint: `Leave ${field} out.`,
      details: { requiredCapability, field },
    });
  }
}

const gatedFields = { agentId: 'agents.liveRuntime', residency: 'dataResidency' };

/** A registered workflow by its id, or the generated workflow of a single agent. */
function whatRunsOf(
  { workflowId, agentId }: CreateRun,
  inputs: JsonObject,
): Pick<StartRun, 'workflowId' | 'definition'> {
  if (agentId === undefined) {
    invariant(workflowId !== undefined, 'workflow-id-given');
    return { workflowId };
  }
  if (workflowId !== undefined) {
    throw new TerminalError('validation_error', {
      message: `The run names the workflow ${quoted(workflowId, 140)} and the agent ${quoted(agentId, 260)}; it can be of one only.`,
      hint: 'Leave agentId out: the nodes of a workflow name their agents themselves.',
      details: { field: 'agentId' },
    });
  }
  const problem = agentIdProblem(agentId);
  if (problem !== null) {
    throw new TerminalError('validation_error', {
      message: `The agentId ${problem}.`,
      hint: 'GET /v1/agents lists the agents of the tenant.',
      details: { field: 'agentId' },
    });
  }
  const definition = agentRun(agentId, inputs);
  return { workflowId: definition.id, definition };
}

/** Refuses what the protocol reserves for test keys; this host grants it to no caller. */
function refuseTestOptions({ request }: Call): void {
  if (request.headers['x-force-engine-version'] !== undefined) {
    throw new TerminalError('force_engine_version_forbidden', {
      message: 'This key may not choose the version of the engine.',
      hint: 'Leave X-Force-Engine-Version out.',
    });
  }
}

/** `ai: { model }` and `ai.model` are the same option; the run keeps the second. */
export function withFlatOptions<Body extends RunOptions>(body: Body): Body {
  const { ai, ...others } = body.configurable ?? {};
  if (!isJsonObject(ai)) return body;
  const flat: Record<string, unknown> = { ...others };
  for (const [field, value] of Object.entries(ai)) {
    const name = `ai.${field}`;
    if (Object.hasOwn(flat, name) && flat[name] !== value) throw twoValues(name);
    flat[name] = value;
  }
  return { ...body, configurable: parseShape(configurableShape, flat, 'configurable') };
}

const twoValues = (name: string): TerminalError =>
  new TerminalError('validation_error', {
    message: `configurable has two different values for ${quoted(name, 60)}.`,
    hint: 'Give it once, nested in ai or with the full name.',
    details: { field: 'configurable' },
  });

/** Picks the run options from a validated body; absent options stay absent. */
export function runOptions(body: RunOptions): RunOptions {
  const { configurable, tags, metadata } = body;
  checkMetadata(metadata);
  return {
    ...(configurable === undefined ? {} : { configurable }),
    ...(tags === undefined ? {} : { tags }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Bounded because every snapshot of the run reads the metadata. */
const MAX_METADATA_BYTES = 8_192;

/** The host says with these where an agent comes from, so a caller may not. */
const HOST_METADATA = /^vendor\.openwop(\.|$)/;

function checkMetadata(metadata: CreateRun['metadata']): void {
  if (metadata === undefined) return;
  const { vendor } = metadata;
  const isNested = isJsonObject(vendor) && Object.hasOwn(vendor, 'openwop');
  const reserved =
    Object.keys(metadata).find((name) => HOST_METADATA.test(name)) ?? (isNested ? 'vendor.openwop' : null);
  if (reserved !== null) {
    throw new TerminalError('validation_error', {
      message: `metadata: only the host writes ${quoted(reserved, 100)}.`,
      hint: 'Give the key a name that does not begin with vendor.openwop.',
      details: { field: 'metadata' },
    });
  }
  const bytes = utf8Size(JSON.stringify(metadata));
  if (bytes <= MAX_METADATA_BYTES) return;
  throw new TerminalError('validation_error', {
    message: `metadata has ${bytes} bytes as JSON; at most ${MAX_METADATA_BYTES} are kept with a run.`,
    hint: 'Keep the facts elsewhere and a reference to them here.',
    details: { field: 'metadata', maxBytes: MAX_METADATA_BYTES },
  });
}

/**
 * The wire allows no terminal status here. A run that has already ended is reported as running, as it was when created.
 */
function createdBody({ runId, contextId, status }: RunStarted, workflowId: string): string {
  const path = `/v1/runs/${runId}`;
  return JSON.stringify({
    runId,
    status: isTerminalStatus(status) ? 'running' : status,
    workflowId,
    contextId,
    eventsUrl: `${path}/events`,
    statusUrl: path,
  });
}
