/**
 * `core.orchestrator.supervisor`: an agent that decides how the run continues. The dispatch node carries out its
 * decisions.
 */
import { orchestratorDecision, row, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';
import type { RunError } from '../../engine/core/state.ts';
import {
  type ConfiguredNode,
  type DrivenContext,
  defineNodeType,
  type NodeAction,
  type NodeDriver,
  type Problem,
} from '../../engine/workflow/node-type.ts';
import { agentFields } from '../loop/agent-config.ts';
import { recordedCalls } from '../loop/calls/recorded-calls.ts';
import { createAgentDriver } from '../loop/driver.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import { costProblems, modelNameOf } from '../loop/run-costs.ts';
import type { LoopState } from '../loop/state/loop-state.ts';
import { promptRefs } from '../prompts/prompt-chain.ts';
import {
  asDecision,
  hasScript,
  isScripted,
  type Scripted,
  scriptedDriver,
  scriptFields,
} from './scripted-supervisor.ts';
import { briefed, workerList } from './workers.ts';

/** State of both drivers. The node determines which one runs; each driver reads only its own fields. */
type Inner = LoopState & Scripted;

const TYPE_ID = 'core.orchestrator.supervisor';

/** The supervisor's agent id, with a fallback when the node names no agent. */
const supervisorId = ({ id, agent }: WorkflowNode): string => agent?.agentId ?? `host:orchestrator:${id}`;

const hasQuestionsLeft = ({ state }: DrivenContext, { clarificationRounds }: LoopOptions): boolean =>
  (state.orchestration?.questions ?? 0) < clarificationRounds;

export function createSupervisor(options: LoopOptions) {
  const agent = createAgentDriver(options);
  const scripted = scriptedDriver(options);
  /** Makes the decision schema the return schema of the node's agents. */
  function asked<Context extends DrivenContext<Inner, SupervisorConfig>>(context: Context): Context {
    if (isScripted(context)) return context;
    return { ...context, agents: briefed(context, context.agents, hasQuestionsLeft(context, options)) };
  }
  const driverOf = (
    context: DrivenContext<Inner, SupervisorConfig>,
  ): Omit<NodeDriver<Inner, SupervisorConfig>, 'fresh'> => (isScripted(context) ? scripted : agent);
  const driver: NodeDriver<Inner, SupervisorConfig> = {
    fresh: (node) => ({ ...agent.fresh(node), ...scripted.fresh(node) }),
    runChange: (event) =>
      event.type === 'runOrchestrator.decided'
        ? { kind: 'decided', ...event.payload }
        : (agent.runChange?.(event) ?? null),
    recorded: recordedCalls,
    evolve(inner, event, place) {
      agent.evolve(inner, event, place);
      scripted.evolve(inner, event, place);
    },
    next(context) {
      const refused = refusal(context);
      if (refused !== null) return refused;
      const action = driverOf(context).next(asked(context));
      return action?.kind === 'complete' ? decided(context, action, options) : action;
    },
    callInput: (context, call) => driverOf(context).callInput(asked(context), call),
    returned: (context, call, result) => driverOf(context).returned(asked(context), call, result),
    again: (context, call) => driverOf(context).again(asked(context), call),
    stopped: (context) => driverOf(context).stopped?.(asked(context)) ?? [],
    hasWritten: (inner) => agent.hasWritten?.(inner) ?? false,
  };
  return defineNodeType({
    typeId: TYPE_ID,
    config: supervisorConfig,
    driver,
    actsAsAgent: (node) => !isScripted(node),
    promptRefs: (compiled) => (isScripted(compiled) ? [] : promptRefs(compiled)),
    checkRun: (node, run) => (isScripted(node) ? [] : costProblems(node, run, options)),
    modelOf: (node, run) => modelNameOf(node, run, options),
    check: (node) => check(node, options.isConformanceHost),
    begin: () => ({ kind: 'wait', drafts: [] }),
  });
}

/** Refuses a second supervisor in a run, and decisions beyond `maxLoopIterations`. */
function refusal(context: DrivenContext): NodeAction | null {
  const { state, node } = context;
  const { orchestration } = state;
  const agentId = supervisorId(node);
  if (orchestration !== null && orchestration.agentId !== agentId) {
    const message = `Node ${node.id} would decide as ${agentId}, and ${orchestration.agentId} supervises this run.`;
    return { kind: 'fail', error: { code: 'validation_error', message, retryable: false } };
  }
  const limit = maxTurns(context);
  const turns = orchestration?.turns ?? 0;
  if (limit === null || turns < limit) return null;
  const nodeId = node.id;
  const breach = row('cap.breached', { kind: 'loop-iterations', limit, observed: turns + 1 }, { nodeId });
  const error: RunError = {
    code: 'loop_limit_exceeded',
    message: `The supervisor has decided ${turns} times, and may not decide again.`,
    retryable: false,
  };
  return { kind: 'fail', drafts: [breach], error };
}

function maxTurns({ state }: DrivenContext): number | null {
  const asked = state.view.configurable?.maxLoopIterations;
  return typeof asked === 'number' ? asked : null;
}

/** Validates the decision and records it before the dispatch node acts on it. */
function decided(
  context: DrivenContext,
  action: Extract<NodeAction, { kind: 'complete' }>,
  options: LoopOptions,
): NodeAction {
  const { result } = action.outputs;
  const parsed = orchestratorDecision.safeParse(result);
  if (!parsed.success) {
    const message = `What ${supervisorId(context.node)} gave back is no decision: ${z.prettifyError(parsed.error)}.`;
    const drafts = action.drafts ?? [];
    return { kind: 'fail', drafts, error: { code: 'validation_error', message, retryable: false } };
  }
  const decision = asDecision(parsed.data);
  if (decision.kind === 'ask-user' && !hasQuestionsLeft(context, options)) {
    return tooManyQuestions(context, action, options.clarificationRounds);
  }
  const payload = { agentId: supervisorId(context.node), decision };
  const told = row('runOrchestrator.decided', payload, { nodeId: context.node.id });
  return { ...action, outputs: { decision }, drafts: [...(action.drafts ?? []), told] };
}

/** An agent is told before that it may not ask again, so this meets scripts, and decisions that a person edited. */
function tooManyQuestions(
  { node }: DrivenContext,
  { drafts = [] }: Extract<NodeAction, { kind: 'complete' }>,
  limit: number,
): NodeAction {
  const nodeId = node.id;
  const breach = row('cap.breached', { kind: 'clarification', limit, observed: limit + 1, nodeId }, { nodeId });
  const message = `The supervisor has asked ${limit} questions in this run, and may not ask again.`;
  const error: RunError = { code: 'clarification_limit_exceeded', message, retryable: false };
  return { kind: 'fail', drafts: [...drafts, breach], error };
}

/** The fields of an agent node, except `outputSchema`: the decision schema is fixed. */
const { outputSchema: _, ...others } = agentFields;
const supervisorFields = { ...others, workers: workerList.optional() };

/** Reports agent fields in the config of a supervisor that is not an agent. */
const agentProblems = (config: Readonly<Record<string, unknown>>, message: string): Problem[] =>
  Object.keys(supervisorFields)
    .filter((name) => config[name] !== undefined)
    .map((name) => ({ path: [name], message }));

const supervisorConfig = z.strictObject({ ...scriptFields, ...supervisorFields }).superRefine((config, context) => {
  if (!hasScript(config)) return;
  for (const { path, message } of agentProblems(config, 'a script asks no agent')) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
});

type SupervisorConfig = z.infer<typeof supervisorConfig>;

function check({ config, node }: ConfiguredNode<SupervisorConfig>, mayBeScripted: boolean): Problem[] {
  if (!isScripted({ config, node })) return [];
  const message = 'must name the agent that supervises, as { "agentId": … }';
  return [
    ...(mayBeScripted ? [] : [{ path: ['agent'], message }]),
    ...agentProblems(config, 'is for a node that names an agent').map(({ path, ...problem }) => ({
      path: ['config', ...path],
      ...problem,
    })),
  ];
}
