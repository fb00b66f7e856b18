/** Runs an agent node against the engine's pure core. The test decides when models and tools answer, and with what. */
import { createHash } from 'node:crypto';
import type { Draft, JsonObject } from '@cairn/protocol';
import { z } from 'zod';
import { RunScript, type ScriptEvent, workflowOf } from '../../../test/kit/run-script.ts';
import { drivenInput } from '../../engine/core/driven.ts';
import type { OpenCall } from '../../engine/core/state.ts';
import { createNodeTypeRegistry } from '../../engine/nodes/node-types.ts';
import type { AgentDefinition, AgentPin, Sha256, StepSafety } from '../../engine/ports.ts';
import { type Differences, testDefinition } from '../agent-definition.kit.ts';
import { ceilingOf } from '../allowlist.ts';
import { ModelError } from '../models/model-error.ts';
import type { ModelFailure, ModelRequest, Turn } from '../models/turn.ts';
import { PromptRegistry } from '../prompts/prompt-registry.ts';
import { hostTool } from '../tools/define-tool.ts';
import type { ToolCallInput, ToolOutcome } from '../tools/tool.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { createAgentNodes } from './agent-node.ts';
import type { LoopOptions } from './loop-options.ts';
import { type LoopState, openInvocation } from './state/loop-state.ts';

export const sha256: Sha256 = (text, encoding) => createHash('sha256').update(text).digest(encoding);

const PACK = 'community.test.crew';
export const agentId = (name: string): string => `${PACK}.${name}`;

const tool = (id: string, safety: StepSafety, untrusted = false) =>
  hostTool({
    id,
    description: `Does ${id}.`,
    input: z.strictObject({ n: z.number().optional() }),
    safety,
    untrusted,
    egress: 'none',
    needs: id === 'openwop:secret' ? ['tool:secret'] : [],
    run: () => null,
  });

const registry = new ToolRegistry([
  tool('openwop:look', 'read'),
  tool('openwop:web', 'read', true),
  tool('openwop:save', 'write'),
  tool('openwop:secret', 'read'),
]);

export const testLoopOptions = (more: Partial<LoopOptions> = {}): LoopOptions => ({
  sha256,
  models: {
    find({ selection }) {
      if (selection.provider === 'nowhere') throw new ModelError('not_configured', { message: 'There is none.' });
      const { provider = 'scripted', model = 'small' } = selection;
      return {
        provider,
        model,
        capabilities: new Set(['function-calling', 'structured-output']),
        contextTokens: null,
        prices: provider === 'dear' ? { input: 1, output: 1 } : null,
        isScripted: true,
        stream: () => {
          throw new Error('not here');
        },
      };
    },
  },
  toolAccess: (run, allowlist) => ({
    registry,
    policy: { name: 'tools.allow', lines: ['openwop:*'] },
    allowlist,
    ceiling: ceilingOf(run.configurable),
    scopes: undefined,
  }),
  prompts: new PromptRegistry([]),
  reasoningVerbosity: 'summary',
  reasoningTokenLimit: 512,
  lowConfidence: 'ask',
  clarificationRounds: 10,
  isConformanceHost: false,
  ...more,
});

/** The parts of the default agent definition that a test overrides. */
export type TestAgent = Pick<Differences, 'manifest' | 'taskSchema' | 'returnSchema'>;

const allTools = ['openwop:look', 'openwop:web', 'openwop:save', 'openwop:secret'];

function definitionOf(name: string, { manifest, ...schemas }: TestAgent): AgentDefinition {
  const systemPrompt = `You are ${name}.`;
  const own = { agentId: agentId(name), persona: name, systemPrompt, toolAllowlist: allTools };
  return testDefinition({ packName: PACK, manifest: { ...own, ...manifest }, systemPrompt, ...schemas });
}

export interface AgentScriptOptions {
  /** Keyed by name; the node uses the first. */
  readonly agents?: Readonly<Record<string, TestAgent>>;
  readonly config?: JsonObject;
  /** The node type. Default `cairn.agent`. */
  readonly type?: string;
  /** Agent names for the nodes `b`, `c` and so on that follow. */
  readonly next?: readonly string[];
  readonly inputs?: JsonObject;
  readonly configurable?: JsonObject;
  readonly settings?: JsonObject;
  readonly loopOptions?: Partial<LoopOptions>;
}

/** One run of an agent node called `a` and of the nodes that follow it. */
export class AgentScript extends RunScript {
  constructor(options: AgentScriptOptions = {}) {
    const { agents = { solo: {} }, config = {}, inputs = { message: 'Do it.' }, configurable, settings } = options;
    const names = Object.keys(agents);
    const definitions = new Map<string, AgentDefinition>();
    const pins: Record<string, AgentPin> = {};
    for (const [name, agent] of Object.entries(agents)) {
      const id = agentId(name);
      definitions.set(id, definitionOf(name, agent));
      pins[id] = { hash: name, ref: { agentId: id, name, version: '1.0.0' } };
    }
    const node = {
      type: options.type ?? 'cairn.agent',
      config,
      agent: { agentId: agentId(names[0] as string) },
      inputs: Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, { type: 'static', value }])),
      ...(settings === undefined ? {} : { settings }),
    };
    const later = (options.next ?? []).map((name, i) => [
      'bcdef'.charAt(i),
      { type: 'cairn.agent', agent: { agentId: agentId(name) } },
    ]);
    super(workflowOf({ a: node as never, ...Object.fromEntries(later) }), {
      nodeTypes: createNodeTypeRegistry([], createAgentNodes(testLoopOptions(options.loopOptions))),
      agents: { definitions, pins },
      ...(configurable === undefined ? {} : { configurable }),
    });
  }

  get modelCall(): OpenCall {
    const call = [...this.state.calls.values()].find(({ step }) => step === 'cairn.model');
    if (call === undefined) throw new Error(`no model call is open; the last row is ${this.types().at(-1)}`);
    return call;
  }

  /** Failed attempts of the open turn. */
  get failures(): number {
    const { stage } = openInvocation(this.state.inner.a as LoopState);
    return stage.kind === 'model' ? stage.call.failures : 0;
  }

  /** The request of the open turn. */
  get request(): ModelRequest {
    return drivenInput(this.state, this.workflow, this.modelCall) as ModelRequest;
  }

  says(turn: Partial<Turn> = {}): this {
    return this.lands(this.modelCall.callId, { outcome: { turn: turnOf(turn) as JsonObject } });
  }

  calls(...toolCalls: readonly (readonly [name: string, input?: unknown, id?: string])[]): this {
    return this.says({
      text: '',
      finish: 'tool_calls',
      toolCalls: toolCalls.map(([name, input = {}, id], i) => ({ id: id ?? `call_${i}`, name, input: input as never })),
    });
  }

  fails(failure: Partial<ModelFailure> = {}): this {
    const error = { class: 'overloaded', code: 'model_call_failed', message: 'Busy.', retryable: true, ...failure };
    return this.lands(this.modelCall.callId, { outcome: { error: error as JsonObject } });
  }

  /** Writes a row that the open model call streams. */
  streams(type: 'agent.reasoning.delta' | 'output.chunk', payload: JsonObject): this {
    const { nodeId, requestedSeq } = this.modelCall;
    this.write([{ type, nodeId, cause: requestedSeq, audience: 'client', payload } as Draft]);
    return this.settle();
  }

  toolCall(toolId: string): OpenCall {
    const open = [...this.state.calls.values()].find(
      (call) => call.step === 'cairn.tool' && this.inputOf(call).toolId === toolId,
    );
    if (open === undefined) throw new Error(`no call of ${toolId} is open`);
    return open;
  }

  inputOf(call: OpenCall): ToolCallInput {
    return drivenInput(this.state, this.workflow, call) as ToolCallInput;
  }

  tool(toolId: string, outcome: ToolOutcome): this {
    return this.lands(this.toolCall(toolId).callId, { outcome: outcome as JsonObject });
  }

  result(toolId: string, value: unknown = 'done'): this {
    return this.tool(toolId, { kind: 'result', value: value as never });
  }

  /** Event types of the agent, without those of the run. */
  story(): string[] {
    return this.types().filter((type) => !/^(run\.|cairn\.task|node\.started)/.test(type));
  }

  event(type: string): ScriptEvent {
    const found = this.events.find((event) => event.type === type);
    if (found === undefined) throw new Error(`no ${type} among ${this.types().join(', ')}`);
    return found;
  }

  get error(): JsonObject {
    return this.last('node.failed').error as JsonObject;
  }

  get outputs(): JsonObject {
    return this.last('node.completed').outputs as JsonObject;
  }
}

export const turnOf = (more: Partial<Turn> = {}): Turn => ({
  text: 'Done.',
  reasoning: '',
  toolCalls: [],
  finish: 'stop',
  usage: { inputTokens: 10, outputTokens: 5 },
  provider: 'scripted',
  model: 'small',
  cacheKey: 'key',
  chunks: 0,
  tail: '',
  specification: 'v4',
  ...more,
});
