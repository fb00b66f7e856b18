/** One run with everything a replay must repeat: agents, tools, streams, questions, a supervisor, children; not shipped. */
import { type Client, createClient } from '@cairn/client';
import type { InboxEntry, Json, JsonObject, RunEventDoc } from '@cairn/protocol';
import { z } from 'zod';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow } from '../../agents/define-workflow.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { defineStep } from '../../engine/workflow/define-step.ts';
import type { Store } from '../../log/ports/store.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver, type HostOptions } from '../create-host.ts';

const crewKey = 'a-key-of-enough-characters';

export interface Crew {
  readonly client: Client;
  readonly url: string;
  /** Every effect that happened: calls of tools and steps. */
  readonly effects: string[];
  close(): Promise<void>;
}

const call = (tool: string, input: JsonObject) => ({ call: { tool, input } });

const finding = z.object({ found: z.string(), count: z.number() });

function agents() {
  const desk = defineAgent({
    id: 'host:desk',
    persona: 'Desk',
    instructions: 'Look, save, ask, hand on.',
    tools: [
      'acme.desk:look',
      'acme.desk:save',
      'acme.desk:check',
      'openwop:ask',
      'openwop:handoff',
      'openwop:remember',
    ],
    memory: { longTerm: true },
    rehearsal: {
      turns: [
        [
          { think: ['First ', 'I ', 'look. ', 'This is a long thought with several words.'] },
          { say: ['Looking', ' around', ' now.'] },
          call('acme.desk:look', { n: 1 }),
          call('acme.desk:look', { n: 'many' }),
          call('acme.other:forbidden', { n: 2 }),
          call('acme.none:unknown', {}),
        ],
        [{ think: 'Now I save.' }, call('acme.desk:save', { text: 'a note' }), call('acme.desk:check', { n: 3 })],
        [{ ask: { question: 'Which colour?', choices: ['red', 'blue'] } }],
        [call('openwop:remember', { content: 'The colour is {{last}}.' })],
        [{ handoff: { to: 'host:writer', message: 'Write about {{last}}.', reason: 'done' } }],
      ],
    },
  });
  const writer = defineAgent({
    id: 'host:writer',
    persona: 'Writer',
    instructions: 'Write.',
    result: finding,
    rehearsal: { turns: [[{ answer: { found: 'x' } }], [{ answer: { found: 'stones', count: 2 } }]] },
  });
  const judge = defineAgent({
    id: 'host:judge',
    persona: 'Judge',
    instructions: 'Decide.',
    tools: ['openwop:decide'],
    confidenceThreshold: 0.8,
    rehearsal: { turns: [[{ decide: { decision: { go: true }, confidence: 0.4, reasoning: 'not sure' } }]] },
  });
  const boss = defineAgent({
    id: 'host:boss',
    persona: 'Boss',
    instructions: 'Send both workers.',
    rehearsal: {
      turns: [[{ answer: { kind: 'next-worker', nextWorkerIds: ['worker-a', 'worker-b'], confidence: 0.9 } }]],
    },
  });
  return [desk, writer, judge, boss];
}

const worker = (id: string) =>
  defineWorkflow({
    id,
    version: '1',
    nodes: { work: { type: 'local.step.work', inputs: { who: { type: 'static', value: id } } } },
  });

function workflows() {
  const crew = defineWorkflow({
    id: 'crew',
    version: '1',
    variables: { topic: { type: 'string', defaultValue: 'stones' } },
    nodes: {
      desk: {
        type: 'cairn.agent',
        agent: { agentId: 'host:desk' },
        inputs: { message: { type: 'variable', variableName: 'topic' } },
      },
      judge: { type: 'cairn.agent', agent: { agentId: 'host:judge' } },
      talk: { type: 'core.conversationGate', config: { prompt: 'Well?' } },
      pause: { type: 'core.delay', config: { delayMs: 20 } },
      below: { type: 'core.subWorkflow', config: { workflowId: 'inner' } },
      boss: { type: 'core.orchestrator.supervisor', agent: { agentId: 'host:boss' } },
      desks: { type: 'core.dispatch', config: { fanOutPolicy: 'parallel', joinPolicy: 'all' } },
    },
    edges: [
      { from: 'desk', to: 'judge' },
      { from: 'judge', to: 'talk' },
      { from: 'talk', to: 'pause' },
      { from: 'pause', to: 'below' },
      { from: 'below', to: 'boss' },
      { from: 'boss', to: 'desks' },
    ],
  });
  const inner = defineWorkflow({
    id: 'inner',
    version: '1',
    nodes: { gate: { type: 'core.approvalGate', config: { title: 'Go on?' } }, work: { type: 'local.step.work' } },
    edges: [{ from: 'gate', to: 'work' }],
  });
  return [crew, inner, worker('worker-a'), worker('worker-b')];
}

export async function openCrew(
  store: Store,
  more: Partial<Pick<HostOptions, 'agents' | 'prompts' | 'workflows'>> & { readonly internalEvents?: boolean } = {},
): Promise<Crew> {
  const effects: string[] = [];
  const tool = (id: string, input: z.ZodType, safety: 'read' | 'write') =>
    defineTool({
      id,
      description: `Does ${id}.`,
      input,
      safety,
      run: async (given, context) => {
        effects.push(`${id} ${JSON.stringify(given)}`);
        if (id !== 'acme.desk:check') return { did: effects.length };
        context.progress(0.5, 'half');
        const made = await context.step('count', () => ({ counted: 7 }));
        return { checked: await context.ask({ prompt: 'Is it right?' }), ...made };
      },
    });
  const host = await createHostOver(store, {
    config: {
      port: 0,
      keys: [{ key: crewKey, tenant: 't', principal: 'ann', scopes: [...scopes] }],
      agents: { internalEvents: more.internalEvents ?? false },
    },
    tools: [
      tool('acme.desk:look', z.object({ n: z.number() }), 'read'),
      tool('acme.desk:save', z.object({ text: z.string() }), 'write'),
      tool('acme.desk:check', z.object({ n: z.number() }), 'read'),
      tool('acme.other:forbidden', z.object({}), 'read'),
    ],
    agents: more.agents ?? agents(),
    steps: [
      defineStep({
        name: 'work',
        safety: 'write',
        run: async (input) => {
          effects.push(`acme.work ${JSON.stringify(input)}`);
          return { worked: effects.length };
        },
      }),
    ],
    prompts: more.prompts ?? [],
    workflows: more.workflows ?? workflows(),
    report: () => undefined,
  });
  const url = host.url ?? '';
  return { client: createClient({ url, key: crewKey }), url, effects, close: () => host.close() };
}

const answers: Readonly<Record<string, readonly Json[]>> = {
  clarification: [{ answers: { answer: 'blue' } }],
  'low-confidence': [{ action: 'approve' }],
  approval: [{ action: 'accept' }],
  'conversation.exchange': [{ operation: 'exchange', turn: { content: 'Hello.' } }, { operation: 'close' }],
};

/** Answers everything that a run asks until it ends. Returns its id. */
export async function ranCrew({ client }: Crew): Promise<string> {
  const { runId } = await client.runs.create({ workflowId: 'crew', inputs: { topic: 'cairns' } });
  const stop = new AbortController();
  const answering = (async () => {
    for await (const change of client.inbox.watch({ signal: stop.signal })) {
      if (change.type === 'added') await answered(client, change.entry);
      if (change.type === 'snapshot') for (const entry of change.entries) await answered(client, entry);
    }
  })();
  answering.catch(() => undefined);
  const followed = (async () => {
    for await (const _ of client.follow(runId)) void _;
  })().finally(() => stop.abort());
  await answering.catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await followed;
  return runId;
}

async function answered(client: Client, { runId, nodeId, kind }: InboxEntry): Promise<void> {
  for (const value of answers[kind] ?? []) await client.runs.answer(runId, nodeId, value);
}

export const shown = (events: readonly RunEventDoc[]) =>
  events.map(({ type, nodeId, payload }) => ({ type, nodeId, payload }));
