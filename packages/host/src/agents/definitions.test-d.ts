/** Definitions in code, checked by the compiler alone: what it accepts, and each mistake that it must refuse. */
import {
  type AgentOptions,
  type AskQuestion,
  type AuthoredWorkflow,
  defineAgent,
  defineStep,
  defineTool,
  defineWorkflow,
  expression,
  fixed,
  type Json,
  type NodeConfigs,
  outputOf,
  TerminalError,
  type ToolContext,
  variable,
  type WorkflowDefinition,
  z,
} from '../index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_Claim extends true>(): void => undefined;

const pay = defineStep({
  name: 'pay',
  input: z.object({ euros: z.number(), note: z.string().optional() }),
  run: async ({ euros, note }, { idempotencyKey }) => {
    holds<Same<typeof euros, number>>();
    holds<Same<typeof note, string | undefined>>();
    return { receipt: `${euros} ${idempotencyKey}` };
  },
});
const loose = defineStep({ name: 'loose', run: async (input) => input });

export const order = defineWorkflow({
  id: 'order',
  version: '1.0.0',
  variables: { euros: { type: 'number', required: true } },
  nodes: {
    wait: { type: 'core.delay', config: { delayMs: 1 } },
    gate: { type: 'core.approvalGate', config: { title: 'Pay?', requiredApprovals: 2 } },
    pay: { type: pay, config: { note: 'thanks' }, inputs: { euros: variable('euros') } },
    log: {
      type: loose,
      config: { anything: [1, { at: 'all' }] },
      inputs: { receipt: outputOf('pay', 'receipt'), all: outputOf('pay'), by: outputOf('gate', 'decidedBy') },
    },
    keep: { type: 'core.setVariable', config: { name: 'euros', expression: 'variables.euros * 2' } },
    ask: { type: 'cairn.agent', agent: 'host:desk', config: { limits: { maxTurns: 2 } }, inputs: { task: fixed('x') } },
    own: { type: 'vendor.acme.node', config: { open: true }, inputs: { sum: expression('variables.euros + 1') } },
  },
  edges: [{ from: 'wait', to: 'gate' }],
});

holds<Same<typeof order, WorkflowDefinition>>();
const unversioned = defineWorkflow({ id: 'w', nodes: { a: { type: 'core.noop' } } });
holds<Same<typeof unversioned, AuthoredWorkflow>>();

const one = { id: 'w', version: '1' } as const;
const euros = { euros: { type: 'number' } } as const;

// @ts-expect-error: a typo in the config of a node type
defineWorkflow({ ...one, nodes: { gate: { type: 'core.approvalGate', config: { requiredApproval: 2 } } } });
// @ts-expect-error: a setting of another type
defineWorkflow({ ...one, nodes: { wait: { type: 'core.delay', config: { delayMs: '1s' } } } });
// @ts-expect-error: a node type that needs a config
defineWorkflow({ ...one, nodes: { keep: { type: 'core.setVariable' } } });
// @ts-expect-error: a typo below a setting
defineWorkflow({ ...one, nodes: { ask: { type: 'cairn.agent', agent: 'a', config: { limits: { maxTurn: 2 } } } } });
// @ts-expect-error: a variable that is not declared
defineWorkflow({ ...one, variables: euros, nodes: { pay: { type: pay, inputs: { euros: variable('euro') } } } });
// @ts-expect-error: a variable where none is declared
defineWorkflow({ ...one, nodes: { pay: { type: pay, inputs: { euros: variable('euros') } } } });
// @ts-expect-error: the output of a node that does not exist
defineWorkflow({ ...one, nodes: { pay: { type: pay }, log: { type: loose, inputs: { a: outputOf('pai') } } } });
// @ts-expect-error: an output that the step does not have
defineWorkflow({ ...one, nodes: { pay: { type: pay }, b: { type: loose, inputs: { a: outputOf('pay', 'no') } } } });
// @ts-expect-error: an input that the step does not have
defineWorkflow({ ...one, nodes: { pay: { type: pay, inputs: { euro: fixed(1) } } } });
// @ts-expect-error: a config that the step does not take
defineWorkflow({ ...one, nodes: { pay: { type: pay, config: { euros: 'ten' } } } });
// @ts-expect-error: an edge to a node that does not exist
defineWorkflow({ ...one, nodes: { a: { type: 'core.noop' } }, edges: [{ from: 'a', to: 'b' }] });
// @ts-expect-error: an option of a node that does not exist
defineWorkflow({ ...one, nodes: { a: { type: 'core.noop', nmae: 'A' } } });
// @ts-expect-error: a value in wire format that names a missing variable
defineWorkflow({ ...one, nodes: { a: { type: 'core.noop', inputs: { x: { type: 'variable', variableName: 'x' } } } } });

// A definition that is computed has names that the compiler cannot know.
const some: Record<string, { type: string }> = {};
defineWorkflow({ ...one, nodes: some });

holds<Same<NodeConfigs['core.approvalGate']['requiredApprovals'], number | undefined>>();
holds<Same<NodeConfigs['core.dispatch']['joinPolicy'], 'all' | 'any' | 'settled' | undefined>>();
holds<'core.orchestrator.supervisor' extends keyof NodeConfigs ? true : false>();

export const refund = defineTool({
  id: 'acme.shop:refund',
  description: 'Pays an order back.',
  input: z.object({ order: z.string(), euros: z.number() }),
  output: z.object({ receipt: z.string(), paid: z.boolean().default(true) }),
  async run({ order, euros }, { ask, step }) {
    const yes = await ask({ prompt: `Refund ${order}?`, schema: z.boolean() });
    holds<Same<typeof yes, boolean>>();
    const day = await ask({
      prompt: 'When?',
      schema: z.object({ day: z.string().transform((text) => new Date(text)) }),
    });
    holds<Same<typeof day, { day: Date }>>();
    const open = await ask({ prompt: 'Anything else?' });
    holds<Same<typeof open, Json>>();
    const byJsonSchema = await ask({ prompt: 'How many?', schema: { type: 'integer' } });
    holds<Same<typeof byJsonSchema, Json>>();
    // @ts-expect-error: a plain JSON Schema gives JSON, not a number
    const number: number = await ask({ prompt: 'How many?', schema: { type: 'integer' } });
    const receipt = await step('pay', async () => order.repeat(euros + number));
    holds<Same<typeof receipt, string>>();
    if (!yes) throw new TerminalError('tool_failed', { message: 'A person said no.' });
    return { receipt };
  },
});

const tool = { id: 'acme:do', description: 'Does it.', input: z.object({}) };
// @ts-expect-error: run does not return what output says
defineTool({ ...tool, output: z.object({ receipt: z.string() }), run: () => ({ receipt: 1 }) });
// @ts-expect-error: the same of a promise
defineTool({ ...tool, output: z.object({ receipt: z.string() }), run: async () => ({}) });
// @ts-expect-error: an unknown option
defineTool({ ...tool, saftey: 'read', run: () => 1 });
// @ts-expect-error: an unknown safety
defineTool({ ...tool, safety: 'harmless', run: () => 1 });
// Without a zod schema the result is open.
defineTool({ ...tool, output: { type: 'integer' }, run: () => 1 });
defineTool({ ...tool, run: (_input, context: ToolContext) => context.runId });

const question: AskQuestion<boolean> = { prompt: 'Sure?', schema: z.boolean() };
holds<Same<AskQuestion['timeoutMs'], number | undefined>>();
// @ts-expect-error: a schema of another answer
export const wrongQuestion: AskQuestion<boolean> = { ...question, schema: z.string() };

const desk: AgentOptions = { id: 'host:desk', persona: 'Desk', instructions: 'Sort.', tools: [refund, 'openwop:time'] };
defineAgent({ ...desk, modelClass: 'classification', result: z.object({ queue: z.string() }) });
// @ts-expect-error: an unknown option
defineAgent({ ...desk, toolAllowlist: ['openwop:time'] });
// @ts-expect-error: an unknown model class
defineAgent({ ...desk, modelClass: 'genius' });
// @ts-expect-error: an unknown kind of memory
defineAgent({ ...desk, memory: { forever: true } });

// @ts-expect-error: an unknown option of a step
defineStep({ name: 'x', safty: 'read', run: async () => 1 });
