/**
 * The settings of the host that an agent loop needs, as the record of a run shows them. With them the loop decides a run
 * again without its host. Everything else about an agent is pinned by the run.
 */
import { isJsonObject, type Json, type JsonObject, type RunView, TerminalError } from '@cairn/protocol';
import { CALL_PROPOSED } from '../../engine/core/evolve/interrupts.ts';
import type { RunError } from '../../engine/core/state.ts';
import type { Sha256 } from '../../engine/ports.ts';
import { payloadOf, type RecordedRow } from '../../engine/replay/recorded-row.ts';
import { utf8Size } from '../../utf8.ts';
import { ceilingOf, type ToolAccess } from '../allowlist.ts';
import type { InvocationBasis, LoopOptions } from '../loop/loop-options.ts';
import { ModelError } from '../models/model-error.ts';
import type { ReasoningVerbosity } from '../models/turn.ts';
import { PromptRegistry } from '../prompts/prompt-registry.ts';
import { RecordedTools } from './recorded-tools.ts';

/** A host's default. Only a record of more questions shows another limit. */
const CLARIFICATION_ROUNDS = 10;

/** Estimated bytes per token, as in `loop/rows.ts`. */
const BYTES_PER_TOKEN = 4;

const UNKNOWN_BASIS: InvocationBasis = { provider: 'unknown', model: 'unknown', isPriced: true, toolCount: 0 };

export class RecordedLoop implements LoopOptions {
  readonly sha256: Sha256;
  /** Earlier versions pinned no templates; a node of theirs that refers to one cannot be decided again. */
  readonly prompts = new PromptRegistry([]);
  /** A default of the host holds only for nodes without a setting of their own. */
  readonly #hasOwnVerbosity: (nodeId: string) => boolean;
  readonly #tools: RecordedTools;
  readonly #invocations = new Map<string, InvocationBasis>();
  /** The errors of nodes that had no model, or none with a price. */
  readonly #failures = new Map<string, RunError>();
  reasoningVerbosity: ReasoningVerbosity = 'off';
  reasoningTokenLimit = 0;
  lowConfidence: LoopOptions['lowConfidence'] = 'ask';
  clarificationRounds = CLARIFICATION_ROUNDS;
  /** Tests of orchestration have recorded runs too. */
  readonly isConformanceHost = true;

  constructor(sha256: Sha256, hasOwnVerbosity: (nodeId: string) => boolean) {
    this.sha256 = sha256;
    this.#hasOwnVerbosity = hasOwnVerbosity;
    this.#tools = new RecordedTools(sha256);
  }

  readonly models: LoopOptions['models'] = {
    find() {
      throw new ModelError('not_configured', { message: 'The record shows no model for it.' });
    },
  };

  readonly recordedBasis: NonNullable<LoopOptions['recordedBasis']> = ({ nodeId, invocationId }) => {
    const known = this.#invocations.get(invocationId);
    if (known !== undefined) return known;
    const failure = this.#failures.get(nodeId);
    // An invocation that did not begin because of a limit is in no row, and its host had a model for it.
    if (failure === undefined) return UNKNOWN_BASIS;
    const { code, message, details } = failure;
    throw new TerminalError(code, { message, ...(details === undefined ? {} : { details }) });
  };

  /** The servers that calls of nodes without a server went to. */
  readonly #servers = new Map<string, string>();

  readonly mcp: NonNullable<LoopOptions['mcp']> = {
    serverOf: (nodeId) => this.#servers.get(nodeId) ?? null,
    serverCount: () => 0,
    unlisted: () => undefined,
  };

  #learnServer({ toolId }: JsonObject, nodeId: string): void {
    const [, server] = /^mcp:([^/]+)\//.exec(String(toolId)) ?? [];
    if (server !== undefined) this.#servers.set(nodeId, server);
  }

  readonly toolAccess = (
    { configurable, toolScopes }: Readonly<RunView>,
    allowlist: readonly string[] | undefined,
  ): ToolAccess => ({
    registry: this.#tools,
    policy: this.#tools.policy.lines,
    allowlist,
    ceiling: ceilingOf(configurable),
    scopes: toolScopes ?? undefined,
  });

  /** Call it for each row before the decision that wrote it is made again. */
  learn(row: RecordedRow): void {
    this.#learners.get(row.type)?.(payloadOf(row), row.nodeId ?? '');
  }

  readonly #learners = new Map<string, (payload: JsonObject, nodeId: string) => void>([
    ['agent.invocation.started', (payload) => this.#learnInvocation(payload)],
    ['cairn.model.returned', (payload) => this.#tools.learnTurn(payload)],
    [
      'agent.toolCalled',
      (payload, nodeId) => {
        this.#learnServer(payload, nodeId);
        this.#tools.learnCall(payload);
      },
    ],
    ['agent.toolReturned', (payload) => this.#tools.learnReturn(payload)],
    ['agent.reasoned', (payload, nodeId) => this.#learnReasoning(payload, nodeId)],
    ['cap.breached', (payload) => this.#learnLimit(payload)],
    ['interrupt.requested', ({ data }, nodeId) => this.#learnProposal(data, nodeId)],
    [
      'node.failed',
      ({ error }, nodeId) => {
        if (isHostFailure(error)) this.#failures.set(nodeId, error);
      },
    ],
  ]);

  #learnInvocation({ invocationId, resolvedProvider, resolvedModel, toolSurfaceCount }: JsonObject): void {
    this.#invocations.set(String(invocationId), {
      provider: String(resolvedProvider),
      model: String(resolvedModel),
      isPriced: true,
      toolCount: Number(toolSurfaceCount),
    });
  }

  /** A thought that a tool records has a level of its own and says nothing of the setting. */
  #learnReasoning({ verbosity, reasoning, level }: JsonObject, nodeId: string): void {
    if (level !== undefined) return;
    this.#learnVerbosity(verbosity, nodeId);
    if (verbosity !== 'summary' || typeof reasoning !== 'string') return;
    // A summary that was cut has the length of the limit, and no other is longer.
    const tokens = Math.ceil(utf8Size(reasoning) / BYTES_PER_TOKEN);
    this.reasoningTokenLimit = Math.max(this.reasoningTokenLimit, tokens);
  }

  /** A branch asks a person about the turn of a supervisor before anything of its reasoning is recorded. */
  #learnProposal(data: Json | undefined, nodeId: string): void {
    if (!isJsonObject(data) || data.customKind !== CALL_PROPOSED || !isJsonObject(data.payload)) return;
    const { inputs } = data.payload;
    if (isJsonObject(inputs)) this.#learnVerbosity(inputs.verbosity, nodeId);
  }

  #learnVerbosity(verbosity: Json | undefined, nodeId: string): void {
    const isKnown = verbosity === 'summary' || verbosity === 'full';
    if (isKnown && !this.#hasOwnVerbosity(nodeId)) this.reasoningVerbosity = verbosity;
  }

  #learnLimit({ kind, limit }: JsonObject): void {
    if (kind === 'confidence-escalation-suppressed') this.lowConfidence = 'suppress';
    else if (kind === 'clarification' && typeof limit === 'number') this.clarificationRounds = limit;
  }
}

/** Errors with which an invocation does not begin because of the models of its host. */
const hostFailures: readonly string[] = [
  'model_not_configured',
  'config_validation_failed',
  'unsupported_mock_provider',
  'credential_forbidden',
];

const isHostFailure = (error: Json | undefined): error is RunError & JsonObject =>
  isJsonObject(error) && typeof error.message === 'string' && hostFailures.includes(String(error.code));
