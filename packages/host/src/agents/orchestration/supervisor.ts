/** `core.orchestrator.supervisor`: an agent whose answer is a decision about the run, recorded for the dispatch node to carry out. */
import { type Json, type JsonObject, orchestratorDecision, type WorkflowNode } from '@cairn/protocol';
import { z } from 'zod';
import type { Draft, RunError } from '../../engine/core/state.ts';
import type { DrivenContext, NodeAction, NodeDriver, NodeType } from '../../engine/workflow/node-type.ts';
import { type Check, configProblems, settings } from '../loop/agent-node.ts';
import { createAgentDriver } from '../loop/driver.ts';
import type { LoopOptions } from '../loop/loop-options.ts';
import { clientRow } from '../loop/rows.ts';
import { costProblems } from '../loop/run-costs.ts';
import type { LoopState } from '../loop/state/loop-state.ts';
import { promptRefProblems } from '../prompts/prompt-chain.ts';
import { isScripted, scriptedDriver, scriptProblems } from './scripted-supervisor.ts';
import { briefed, workerProblems } from './workers.ts';

type Inner = LoopState | object;

const TYPE_ID = 'core.orchestrator.supervisor';

/** Who supervises when the node names nobody. */
const supervisorId = ({ id, agent }: WorkflowNode): string => agent?.agentId ?? `host:orchestrator:${id}`;

export function createSupervisor(options: LoopOptions): NodeType {
  const agent = createAgentDriver(options) as NodeDriver;
  const scripted = scriptedDriver(options) as NodeDriver;
  const driverOf = (context: DrivenContext): NodeDriver => (isScripted(context.node) ? scripted : agent);
  const driver: NodeDriver<Inner> = {
    // Which of the two it is follows from the node, which is not known here: each reads only what is its own.
    fresh: () => ({ ...agent.fresh(), ...scripted.fresh() }),
    evolve(inner, event) {
      agent.evolve(inner, event);
      scripted.evolve(inner, event);
    },
    next(context) {
      const refused = refusal(context);
      if (refused !== null) return refused;
      const action = driverOf(context).next(asked(context));
      return action?.kind === 'complete' ? decided(context, action) : action;
    },
    callInput: (context, call) => driverOf(context).callInput(asked(context), call),
    returned: (context, call, result) => driverOf(context).returned(asked(context), call, result),
    again: (context, call) => driverOf(context).again(asked(context), call),
    stopped: (context) => driverOf(context).stopped?.(asked(context)) ?? [],
    hasWritten: (inner) => agent.hasWritten?.(inner) ?? false,
  };
  return {
    typeId: TYPE_ID,
    driver: driver as NodeDriver,
    actsAsAgent: (node) => !isScripted(node),
    checkRun: (node, run) => (isScripted(node) ? [] : costProblems(node, run, options)),
    check: (node, definition) =>
      problemsOf(node, options.isConformanceHost || definition.id.startsWith('conformance-')),
    begin: () => ({ kind: 'wait', drafts: [] }),
  };
}

/** The same node, with a decision for what its agent has to give back. */
function asked<Context extends DrivenContext>(context: Context): Context {
  const { node, agents } = context;
  return isScripted(node) ? context : { ...context, agents: briefed(node, agents) };
}

/** The run has one supervisor, and each of its decisions is one turn of the loop. */
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
  const payload = { kind: 'loop-iterations', limit, observed: turns + 1, nodeId: node.id };
  const error: RunError = {
    code: 'loop_limit_exceeded',
    message: `The supervisor has decided ${turns} times, and may not decide again.`,
    retryable: false,
  };
  return { kind: 'fail', drafts: [clientRow('cap.breached', node.id, payload)], error };
}

function maxTurns({ state }: DrivenContext): number | null {
  const asked = state.view.configurable?.maxLoopIterations;
  return typeof asked === 'number' ? asked : null;
}

/** The decision goes on record before anything is done about it. */
function decided(context: DrivenContext, action: Extract<NodeAction, { kind: 'complete' }>): NodeAction {
  const { result } = action.outputs;
  const parsed = orchestratorDecision.safeParse(result);
  if (!parsed.success) {
    const message = `What ${supervisorId(context.node)} gave back is no decision: ${z.prettifyError(parsed.error)}.`;
    const drafts = action.drafts ?? [];
    return { kind: 'fail', drafts, error: { code: 'validation_error', message, retryable: false } };
  }
  const payload = { agentId: supervisorId(context.node), decision: parsed.data as unknown as Json };
  const row: Draft = clientRow('runOrchestrator.decided', context.node.id, payload);
  return { ...action, outputs: { decision: parsed.data as unknown as Json }, drafts: [...(action.drafts ?? []), row] };
}

/** As an agent node, but what it gives back is not its own choice. */
const { outputSchema: _, ...agentSettings } = settings;
const supervisorSettings: Readonly<Record<string, Check>> = { ...agentSettings, workers: workerProblems };

function problemsOf(node: WorkflowNode, mayBeScripted: boolean): readonly string[] {
  if (isScripted(node)) {
    const place = mayBeScripted ? [] : ['agent must name the agent that supervises, as { "agentId": … }'];
    return [...place, ...scriptProblems(node.config as JsonObject)];
  }
  return [...configProblems(node.config, supervisorSettings), ...promptRefProblems(node.config)];
}
