/** The measured agents, as scripts. Also plays the same scripts with the scripted model alone, as a baseline. */
import type { WorkflowDefinition } from '@cairn/protocol';
import { z } from 'zod';
import { readScript } from '../packages/host/src/agents/models/scripted/script.ts';
import { scriptedModel } from '../packages/host/src/agents/models/scripted/scripted-model.ts';
import type { ModelMessage } from '../packages/host/src/agents/models/turn.ts';
import { defineAgent, defineTool } from '../packages/host/src/index.ts';
import { systemClock } from '../packages/host/src/server/compose.ts';

/** Turns in one run of the timed loop. The last turn only answers. */
const TURNS = 150;
/** Lets the stream reader connect before the first delta. */
const HEAD_START_MS = 400;

const TOOL = 'bench:note';

/** Returns immediately. */
export const benchTool = defineTool({
  id: TOOL,
  description: 'Notes a text.',
  input: z.object({ text: z.string() }),
  safety: 'idempotent',
  run: () => ({ noted: true }),
});

type Turn = readonly Readonly<Record<string, unknown>>[];

const turnScript: { readonly turns: readonly Turn[] } = {
  turns: Array.from({ length: TURNS }, (_, turn) =>
    turn === TURNS - 1
      ? [{ say: 'All is noted.' }]
      : [{ say: 'This is noted next.' }, { call: { tool: TOOL, input: { text: 'a line of notes' } } }],
  ),
};

/** Deltas of token length, split over two turns because one turn is limited to 400,000 characters. */
const streamScript = (deltas: number): { readonly turns: readonly Turn[] } => {
  const half = { stream: { deltas: deltas / 2, size: 5 } };
  return { turns: [[{ delay: HEAD_START_MS }, half, { call: { tool: TOOL, input: { text: 'half' } } }], [half]] };
};

const agent = (name: string, script: object, tools: readonly string[] = []) =>
  defineAgent({
    id: `host:${name}`,
    persona: name,
    instructions: 'You do as the script says.',
    tools,
    rehearsal: JSON.parse(JSON.stringify(script)),
  });

export const streamLoads = { quick: 20_000, full: 150_000 } as const;

export const benchAgents = [
  agent('bench-greeter', { turns: [[{ say: 'Hello.' }]] }),
  agent('bench-turns', turnScript, [TOOL]),
  ...Object.values(streamLoads).map((deltas) => agent(`bench-stream-${deltas}`, streamScript(deltas), [TOOL])),
];

export const agentWorkflows: readonly WorkflowDefinition[] = benchAgents.map(({ agentId }) => ({
  id: agentId.replace('host:', ''),
  name: agentId,
  version: '1',
  nodes: [
    {
      id: 'agent',
      typeId: 'cairn.agent',
      name: 'Agent',
      position: { x: 0, y: 0 },
      config: { limits: { maxTurns: TURNS } },
      inputs: { message: { type: 'static', value: 'Go.' } },
      agent: { agentId },
    },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: { timeout: 0 },
}));

export interface BareTurns {
  /** For each turn: the time from the model request to the last part. */
  readonly turnMs: readonly number[];
  /** For each call: the time spent in the tool's own function. */
  readonly toolMs: readonly number[];
}

/**
 * Runs the loop without a host: asks the scripted model, calls the function, and keeps the transcript in memory only.
 */
export async function bareTurns(): Promise<BareTurns> {
  const read = readScript(turnScript);
  if ('problems' in read) throw new Error(read.problems.join('; '));
  const model = scriptedModel({ script: read.script, clock: systemClock });
  const tools = [{ toolId: TOOL, name: 'bench_note', description: '', inputSchema: benchTool.inputSchema }];
  const messages: ModelMessage[] = [{ role: 'user', text: 'Go.' }];
  const { signal } = new AbortController();
  const turnMs: number[] = [];
  const toolMs: number[] = [];
  for (let turnIndex = 0; turnIndex < TURNS; turnIndex++) {
    const began = performance.now();
    let text = '';
    const toolCalls = [];
    for await (const parts of model.stream({
      system: 'You do as the script says.',
      messages,
      task: 'Go.',
      tools,
      turnIndex,
      attempt: 1,
      signal,
    })) {
      for (const part of parts) {
        if (part.type === 'tool-call') toolCalls.push(part.call);
        else if (part.type === 'text-delta') text += part.text;
      }
    }
    turnMs.push(performance.now() - began);
    messages.push({ role: 'assistant', text, toolCalls });
    for (const { id, name, input } of toolCalls) {
      const called = performance.now();
      const checked = benchTool.check(input);
      if (!checked.ok) throw new Error(checked.problems.join('; '));
      messages.push({ role: 'tool', callId: id, name, output: { noted: true }, isError: false });
      toolMs.push(performance.now() - called);
    }
  }
  return { turnMs, toolMs };
}
