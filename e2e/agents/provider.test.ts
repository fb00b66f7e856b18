/** The research crew as it ships against a server of models on loopback: streamed thoughts and text, tools, a handoff. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@cairn/client';
import type { JsonObject, RunEventDoc } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { createHost } from '../../packages/host/src/index.ts';
import { eventsOf, payloadsIn } from '../../packages/host/test/kit/followed-run.ts';
import { fields } from '../../packages/host/test/kit/json-fields.ts';
import { wireSchemas } from '../openwop/wire-schemas.ts';
import { withOpenwop } from '../openwop/with-openwop.ts';
import { writtenText } from './campaign.ts';
import { shippedPacks } from './crew-pack.ts';
import { crewProvider } from './crew-provider.ts';

const key = 'a-key-for-the-crew-01';

interface Finished {
  readonly events: readonly RunEventDoc[];
  readonly outputs: JsonObject;
  readonly brief: string;
  readonly asked: ReadonlyMap<string, number>;
}

async function finished(topic: string): Promise<Finished> {
  const data = mkdtempSync(join(tmpdir(), 'cairn-crew-'));
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const provider = await crewProvider(0);
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const host = await createHost({
    config: {
      port: 0,
      data,
      keys: [{ key, tenant: 'crew', principal: 'ada' }],
      packs: { folders: [join(shippedPacks, 'research-crew')] },
      models: { providers: { local: { kind: 'openai-compatible', baseUrl: provider.url } }, default: 'local/crew-1' },
    },
    allowUnsignedPacks: true,
    report: () => undefined,
  });
  onTestFinished(() => host.close());
  const client = createClient({ url: host.url ?? '', key });
  const { runId } = await client.runs.create({ workflowId: 'research-crew', inputs: { topic } });
  const events = await eventsOf(client, runId);
  const run = await client.runs.get(runId);
  expect([run.status, run.error]).toEqual(['completed', undefined]);
  const brief = String(writtenText(events, 'brief.md'));
  return { events, outputs: fields(run.outputs), brief, asked: provider.asked(topic) };
}

test('the crew plans, hands over, researches with tools and writes, on a model that streams', async () => {
  const topic = 'topic-tides';
  const { events, outputs, brief, asked } = await finished(topic);
  expect(
    payloadsIn(events, 'agent.invocation.started').map(({ agentId }) => String(agentId).split('.').at(-1)),
  ).toEqual(['planner', 'researcher', 'writer']);
  expect(payloadsIn(events, 'agent.handoff')).toMatchObject([
    { toAgentId: 'community.cairn.research-crew.researcher', context: { task: { topic } } },
    { toAgentId: 'community.cairn.research-crew.writer' },
  ]);
  // Parallel calls of one turn are all under way before the first returns.
  const tools = events.filter(({ type }) => type === 'agent.toolCalled' || type === 'agent.toolReturned');
  expect(tools.map(({ payload }) => fields(payload).toolId)).toContain('openwop:fs.write');
  expect(payloadsIn(events, 'agent.toolReturned').filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(payloadsIn(events, 'agent.reasoned').map(({ reasoning }) => reasoning)).toContain('That is all.');
  expect(outputs.content).toBe(`# ${topic}\n\nAll is well, as far as the notes go.`);
  expect(brief).toBe(`# ${topic}\n\nAll is well.\n`);
  // Every turn was asked for once, and each told what it used.
  expect([...asked.values()].every((times) => times === 1)).toBe(true);
  expect(payloadsIn(events, 'provider.usage')).toHaveLength(asked.size);
});

test('streamed pieces join to what their blocks close with', async () => {
  const { events, outputs } = await finished('topic-waves');
  let thought = '';
  for (const { type, payload } of events) {
    const { delta, reasoning } = fields(payload);
    if (type === 'agent.reasoning.delta') thought += String(delta);
    if (type !== 'agent.reasoned') continue;
    expect(thought).toBe(reasoning);
    thought = '';
  }
  const written = events.filter(({ type, nodeId }) => type === 'output.chunk' && nodeId === 'write');
  expect(written.length).toBeGreaterThan(3);
  expect(written.map(({ payload }) => fields(payload).chunk).join('')).toBe(outputs.content);
});

withOpenwop('the crew on the wire', (published) => {
  test('every event fits the published schemas', async () => {
    const { events } = await finished('topic-schemas');
    const schemas = wireSchemas(published);
    for (const event of events) schemas.checkEvent(event);
  });
});
