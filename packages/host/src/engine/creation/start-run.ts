/**
 * Builds the first row of a run: validates the request against the definition and pins everything the run depends on.
 */
import {
  type CallBudget,
  type ChannelDeclaration,
  type ContextId,
  type DraftOf,
  eventId,
  type JsonObject,
  type PayloadOf,
  type RunId,
  type RunOptions,
  row,
  TerminalError,
  type WorkflowDefinition,
} from '@cairn/protocol';
import { type HostLimits, runLimits } from '../core/limits.ts';
import type { PayloadDraft } from '../core/payload-draft.ts';
import type { Draft, SealedValues } from '../core/state.ts';
import type { RemoteCaller } from '../engine.ts';
import type { Budget } from '../family/account.ts';
import { budgetProblems, narrowed, rootBudget } from '../family/budget.ts';
import type { ChildStart } from '../family/child-performer.ts';
import { recordCaller } from '../family/remote-parent.ts';
import type { FoundPins } from '../pins/run-pins.ts';
import type { TraceContext } from '../ports.ts';
import { sensitiveNames } from '../sensitive/seal-inputs.ts';
import { schemaProblems } from '../values/schemas.ts';
import { sentence } from '../workflow/node-config.ts';
import { isOfType } from '../workflow/variable-types.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { unknownOptions } from './run-option-names.ts';

export interface RunRequest {
  readonly tenant: string;
  readonly contextId?: ContextId | undefined;
  readonly principal?: string | undefined;
  readonly toolScopes?: readonly string[] | undefined;
  readonly inputs: JsonObject;
  readonly options: Pick<RunOptions, 'configurable' | 'tags' | 'metadata'>;
  readonly trace?: TraceContext | undefined;
  readonly scopeId?: string | undefined;
  readonly retryOf?: RunId | undefined;
  readonly caller?: RemoteCaller | undefined;
  readonly callBudget?: CallBudget | undefined;
  readonly transport?: 'mcp' | 'a2a' | undefined;
  /** Set if a node of another run requested this run. */
  readonly child?: ChildStart | undefined;
}

/** Version of the engine's decision rules; a run continues under the rules it began with. */
const ENGINE_VERSION = '2';

/** Throws `validation_error`, so that request errors surface when the run is created, never later. */
export function startedDraft(start: {
  readonly workflow: Workflow;
  readonly request: RunRequest;
  readonly limits: HostLimits;
  readonly pins?: FoundPins;
  /** The token of the ids inside payloads. Default: none. */
  readonly idToken?: string | undefined;
  /** The options of the host. Default: any. */
  readonly knownOptions?: readonly string[] | undefined;
  /** Who sees thoughts. Default: every reader of the run. */
  readonly thoughtPolicy?: PayloadOf<'run.started'>['thoughtPolicy'];
  readonly internalEvents?: boolean | undefined;
  /** What the row holds in the place of inputs with sensitive values. */
  readonly shownInputs?: JsonObject | undefined;
}): DraftOf<'run.started'> {
  const { definition, hash } = start.workflow;
  const {
    tenant,
    contextId,
    principal,
    toolScopes = [],
    inputs,
    options,
    trace,
    scopeId,
    child,
    caller,
  } = start.request;
  const configurable: JsonObject = options.configurable ?? {};
  const problems = [
    ...inputProblems(definition, inputs, child?.child.sealed),
    ...configurableProblems(definition, configurable),
    // A child gets the options of its parent, whose workflow may declare others.
    ...(child === undefined ? unknownOptions(definition, configurable, start.knownOptions) : []),
  ];
  refuse(definition, problems);
  const budget = child?.child.budget ?? narrowed(rootBudget(configurable, start.limits), start.request.callBudget);
  refuse(definition, nodeProblems(start.workflow, { configurable, budget }));
  const channels = channelDeclarations(start.workflow);
  const payload: PayloadDraft<'run.started'> = {
    workflowId: definition.id,
    workflowVersion: definition.version,
    definitionHash: hash,
    engineVersion: ENGINE_VERSION,
    transport: start.request.transport ?? 'rest',
    owner: { tenant, ...(principal === undefined ? {} : { principal }) },
    inputs: start.shownInputs ?? inputs,
    variables: defaultVariables(definition, inputs, child?.child.unset ?? []),
    limits: runLimits(definition, configurable, start.limits),
    budget,
  };
  if (start.request.transport !== undefined) payload.contentTrust = 'untrusted';
  const sensitive = sensitiveNames(definition);
  if (sensitive !== undefined) payload.sensitive = sensitive;
  if (channels !== undefined) payload.channels = channels;
  if (start.pins?.agents !== undefined) payload.agents = start.pins.agents;
  const actsAs = firstAgent(start.workflow, { configurable, budget });
  if (actsAs !== null) payload.actsAs = actsAs;
  if (start.pins?.prompts !== undefined) payload.prompts = start.pins.prompts;
  if (options.tags !== undefined) payload.tags = options.tags;
  const metadata = metadataOf(options.metadata, start.pins?.metadata);
  if (metadata !== undefined) payload.metadata = metadata;
  if (options.configurable !== undefined) payload.configurable = configurable;
  if (trace !== undefined) payload.traceparent = trace.traceparent;
  if (trace?.tracestate !== undefined) payload.tracestate = trace.tracestate;
  if (scopeId !== undefined) payload.scopeId = scopeId;
  if (start.request.retryOf !== undefined) payload.retryOf = start.request.retryOf;
  if (contextId !== undefined) payload.contextId = contextId;
  if (start.idToken !== undefined) payload.idToken = start.idToken;
  if (toolScopes.length > 0) payload.toolScopes = toolScopes;
  if (start.thoughtPolicy !== undefined) payload.thoughtPolicy = start.thoughtPolicy;
  if (start.internalEvents === true) payload.internalEvents = true;
  if (child !== undefined) inherit(payload, child);
  if (caller !== undefined) recordCaller(payload, caller, start.limits);
  const asked = child === undefined ? undefined : eventId(child.askedBy.runId, child.requestedSeq);
  return row('run.started', payload, { cause: caller?.eventId ?? asked });
}

/** What the host adds stands above what the caller gave. */
const metadataOf = (given: JsonObject | undefined, added: JsonObject | undefined): JsonObject | undefined =>
  added === undefined ? given : { ...given, ...added };

/** What a branch runs with: the inputs and options of its source, and what its overlay changes. */
export interface BranchStart {
  readonly workflow: Workflow;
  readonly inputs: JsonObject;
  /** The sealed values that the inputs refer to. */
  readonly sealed: SealedValues | undefined;
  readonly configurable: JsonObject;
  readonly budget: Budget;
  readonly knownOptions?: readonly string[] | undefined;
}

/** Throws `validation_error` if a run could not start with these inputs and options. */
export function checkBranchStart({ workflow, inputs, sealed, configurable, budget, knownOptions }: BranchStart): void {
  const { definition } = workflow;
  refuse(definition, [
    ...inputProblems(definition, inputs, sealed),
    ...configurableProblems(definition, configurable),
    ...unknownOptions(definition, configurable, knownOptions),
  ]);
  refuse(definition, nodeProblems(workflow, { configurable, budget }));
}

function inherit(payload: PayloadDraft<'run.started'>, { child, askedBy, parentWorkflowId }: ChildStart): void {
  payload.parentRunId = askedBy.runId;
  payload.parentNodeId = askedBy.nodeId;
  if (parentWorkflowId !== undefined) payload.parentWorkflowId = parentWorkflowId;
  payload.depth = child.depth;
  payload.memoryScope = child.memoryScope;
  payload.coordinators = child.coordinators;
  if (child.branch !== undefined) payload.branch = child.branch;
  if (child.toolCallId !== undefined) payload.parentToolCallId = child.toolCallId;
  if (child.agentId !== null) payload.parentAgentId = child.agentId;
  if (child.isDetached) payload.detached = true;
}

/**
 * The second row of a run with a callback. Only operators see it, because a callback address may itself be a secret.
 */
export const callbackDrafts = (callbackUrl: string | undefined): readonly Draft[] =>
  callbackUrl === undefined ? [] : [row('cairn.callback.requested', { callbackUrl })];

/** Problems in one error, the characters of each, and those in its message. Options may have thousands of names. */
const MAX_PROBLEMS = 100;
const MAX_PROBLEM = 1_000;
const SHOWN_PROBLEMS = 20;

function refuse(definition: WorkflowDefinition, found: readonly string[]): void {
  if (found.length === 0) return;
  const problems = found.slice(0, MAX_PROBLEMS).map((problem) => problem.slice(0, MAX_PROBLEM));
  const more = found.length > SHOWN_PROBLEMS ? `; and ${found.length - SHOWN_PROBLEMS} more` : '';
  throw new TerminalError('validation_error', {
    message: sentence(`A run of ${definition.id} cannot start: ${problems.slice(0, SHOWN_PROBLEMS).join('; ')}${more}`),
    hint: 'GET /v1/workflows/{workflowId} shows the variables and options the workflow takes.',
    details: { workflowId: definition.id, problems },
  });
}

/** An input that came sealed from the parent has the type that the parent gave it. */
function inputProblems(definition: WorkflowDefinition, inputs: JsonObject, sealed: SealedValues = {}): string[] {
  const problems: string[] = [];
  for (const variable of definition.variables) {
    const given = own(inputs, variable.name);
    if (given === undefined || given === null) {
      const isMissing = given === null || variable.defaultValue === undefined;
      if (variable.required === true && isMissing) problems.push(`the input ${variable.name} is required`);
    } else if (!isOfType(given, variable.type) && !(typeof given === 'string' && Object.hasOwn(sealed, given))) {
      problems.push(`the input ${variable.name} must be of type ${variable.type}`);
    }
  }
  for (const name of Object.keys(definition.channels ?? {})) {
    if (own(inputs, name) !== undefined) problems.push(`${name} is a channel and cannot be an input`);
  }
  return problems;
}

function configurableProblems(definition: WorkflowDefinition, configurable: JsonObject): string[] {
  const problems: string[] = [];
  for (const name of ['recursionLimit', 'runTimeoutMs']) {
    const value = configurable[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
      problems.push(`configurable.${name} must be a whole number of at least 1`);
    }
  }
  problems.push(...budgetProblems(configurable));
  const tools = configurable['cairn.tools'];
  if (tools !== undefined && !(Array.isArray(tools) && tools.every((line) => typeof line === 'string'))) {
    problems.push('configurable["cairn.tools"] must be a list of tools, such as ["openwop:time"]');
  }
  const { configurableSchema } = definition;
  if (configurableSchema !== undefined) {
    for (const problem of schemaProblems(configurableSchema, configurable)) {
      problems.push(`configurable: ${problem}`);
    }
  }
  return problems;
}

/** Collects the problems that nodes report for this run. */
function nodeProblems({ nodes, agents }: Workflow, run: { configurable: JsonObject; budget: Budget }): string[] {
  const problems: string[] = [];
  for (const node of nodes.values()) {
    const found = node.type.checkRun?.(node, { ...run, agents }) ?? [];
    problems.push(...found.map((problem) => `node ${node.id}: ${problem}`));
  }
  return problems;
}

/** Who a task of this run is for, and with which model it begins. */
function firstAgent(
  { nodes, agents }: Workflow,
  run: { configurable: JsonObject; budget: Budget },
): { readonly agentId: string; readonly model?: string } | null {
  for (const compiled of nodes.values()) {
    const { node, type } = compiled;
    if (type.hostAgent !== undefined) return { agentId: type.hostAgent };
    if (type.actsAsAgent?.(compiled) !== true || node.agent === undefined || node.disabled === true) continue;
    const model = type.modelOf?.(compiled, { ...run, agents }) ?? null;
    return { agentId: node.agent.agentId, ...(model === null ? {} : { model }) };
  }
  return null;
}

/** The declared defaults that no input replaces. The fold adds the inputs, so that the row holds them once. */
function defaultVariables(definition: WorkflowDefinition, inputs: JsonObject, unset: readonly string[]): JsonObject {
  const defaults = definition.variables.flatMap(({ name, defaultValue }) =>
    defaultValue === undefined || unset.includes(name) || Object.hasOwn(inputs, name)
      ? []
      : [[name, defaultValue] as const],
  );
  return Object.fromEntries(defaults);
}

/** Includes channels declared only by the nodes that write them, because their writes cannot carry a time to live. */
function channelDeclarations(workflow: Workflow): Readonly<Record<string, ChannelDeclaration>> | undefined {
  const channels: Record<string, ChannelDeclaration> = { ...workflow.definition.channels };
  for (const { type, config } of workflow.nodes.values()) {
    const written = type.channel?.(config);
    if (written === undefined || Object.hasOwn(channels, written.name)) continue;
    const { name, ...declaration } = written;
    channels[name] = declaration;
  }
  return Object.keys(channels).length === 0 ? undefined : channels;
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;
