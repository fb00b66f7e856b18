/** A host with an agent whose decision depends on its prompt, its model and what its tool finds; not shipped. */
import { type Client, createClient } from '@cairn/client';
import type { ForkRun, JsonObject, RunEventDoc } from '@cairn/protocol';
import { z } from 'zod';
import { callFragment, chunk, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { objects } from '../../../test/kit/json-fields.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineTool } from '../../agents/tools/define-tool.ts';
import { defineWorkflow, variable } from '../../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import { scopes } from '../access/auth.ts';
import { createHostOver } from '../create-host.ts';

const key = 'a-key-of-enough-characters';

export interface Clerk extends AsyncDisposable {
  readonly client: Client;
  readonly url: string;
  readonly key: string;
  /** What the tool finds from now on. */
  finds(amount: number): void;
  /** How often the model and the tool were called. */
  calls(): { readonly model: number; readonly tool: number };
  /** Runs the workflow to its end, approved by a person. */
  approved(claim: string): Promise<string>;
  /** Branches, and waits until the branch ends or asks. */
  branch(runId: string, fork: Omit<ForkRun, 'mode'>): Promise<string>;
  seqOf(runId: string, type: string, nodeId?: string): Promise<number>;
}

const clerk = defineAgent({
  id: 'host:clerk',
  persona: 'Clerk',
  instructions: 'Refund small claims.',
  tools: ['acme:look'],
});

const refund = defineWorkflow({
  id: 'refund',
  version: '1',
  variables: { claim: { type: 'string' }, verdict: { type: 'string' } },
  nodes: {
    decide: { type: 'cairn.agent', agent: { agentId: 'host:clerk' }, inputs: { claim: variable('claim') } },
    keep: {
      type: 'core.setVariable',
      config: { name: 'verdict' },
      inputs: { value: { type: 'connection', nodeId: 'decide', outputKey: 'content' } },
    },
    gate: { type: 'core.approvalGate', config: { title: 'Pay it?' } },
  },
  edges: [
    { from: 'decide', to: 'keep' },
    { from: 'keep', to: 'gate' },
  ],
});

/** Looks the claim up, then decides: a strict clerk and a small model refuse. */
function reply(body: JsonObject): readonly JsonObject[] {
  const messages = objects(body.messages);
  const system = JSON.stringify(messages.find(({ role }) => role === 'system') ?? '');
  const found = messages.find(({ role }) => role === 'tool');
  if (found === undefined) {
    const claim = /claim-\w+/.exec(JSON.stringify(messages))?.[0] ?? 'none';
    const call = callFragment(0, { id: 'c', name: nameOf(body), arguments: JSON.stringify({ claim }) });
    return [chunk(call), chunk({}, 'tool_calls'), usageChunk({ prompt_tokens: 40, completion_tokens: 5 })];
  }
  const amount = Number(/amount[^0-9]*(\d+)/.exec(JSON.stringify(found))?.[1] ?? 0);
  const isStrict = system.includes('strict') || body.model === 'small';
  const verdict = isStrict || amount > 100 ? 'Refuse it.' : 'Refund it.';
  const text = `The claim is about ${amount} dollars.\nIt was checked.\n${verdict}`;
  return [chunk({ content: text }), chunk({}, 'stop'), usageChunk({ prompt_tokens: 60, completion_tokens: 20 })];
}

const nameOf = (body: JsonObject): string => {
  const [tool] = objects(body.tools ?? []);
  return String((tool?.function as JsonObject | undefined)?.name);
};

export async function openClerk(): Promise<Clerk> {
  let amount = 20;
  let tool = 0;
  const server = await fakeOpenAi(({ body }) => ({ chunks: reply(body) }));
  const look = defineTool({
    id: 'acme:look',
    description: 'Looks a claim up.',
    input: z.object({ claim: z.string() }),
    safety: 'read',
    run: ({ claim }) => {
      tool += 1;
      return { claim, amount };
    },
  });
  const prices = { input: 1_000, output: 2_000 };
  const models = {
    providers: {
      fake: {
        kind: 'openai-compatible' as const,
        baseUrl: server.url,
        models: { large: { prices }, small: { prices } },
      },
    },
    default: 'fake/large',
  };
  const host = await createHostOver(inMemoryStore(), {
    config: { port: 0, keys: [{ key, tenant: 't', principal: 'ann', scopes: [...scopes] }], models },
    tools: [look],
    agents: [clerk],
    workflows: [refund],
    report: () => undefined,
  });
  const client = createClient({ url: host.url ?? '', key });
  return {
    client,
    url: host.url ?? '',
    key,
    finds: (next) => {
      amount = next;
    },
    calls: () => ({ model: server.requests.length, tool }),
    async approved(claim) {
      const { runId } = await client.runs.create({ workflowId: 'refund', inputs: { claim } });
      await client.runs.wait(runId);
      await client.runs.answer(runId, 'gate', { action: 'accept' });
      await client.runs.wait(runId);
      return runId;
    },
    async branch(runId, fork) {
      const branch = await client.runs.fork(runId, { mode: 'branch', ...fork });
      await client.runs.wait(branch.runId);
      return branch.runId;
    },
    async seqOf(runId, type, nodeId) {
      const rows: readonly RunEventDoc[] = await client.events.all(runId);
      const row = rows.find((one) => one.type === type && (nodeId === undefined || one.nodeId === nodeId));
      if (row === undefined) throw new Error(`${runId} has no ${type}`);
      return row.sequence;
    },
    async [Symbol.asyncDispose]() {
      await host.close();
      await server[Symbol.asyncDispose]();
    },
  };
}
