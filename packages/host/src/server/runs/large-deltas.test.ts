/** However much a model says at once, the log holds all of it. */
import { expect, onTestFinished, test } from 'vitest';
import { chunk, fakeOpenAi, usageChunk } from '../../../test/kit/fake-openai.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow, fixed } from '../../engine/workflow/define-workflow.ts';
import { DurableHost } from '../durable-host.kit.ts';

const desk = defineAgent({ id: 'host:desk', persona: 'Desk', instructions: 'Greet.' });
const workflows = [
  defineWorkflow({
    id: 'talk',
    version: '1',
    nodes: { one: { type: 'cairn.agent', agent: 'host:desk', inputs: { message: fixed('Hi.') } } },
  }),
];
const text = `.${'😀'.repeat(50_000)}`;

test('a provider that sends one huge delta is recorded whole, in rows that fit', async () => {
  const server = await fakeOpenAi(() => {
    const usage = usageChunk({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });
    return { chunks: [chunk({ content: text }), chunk({}, 'stop'), usage] };
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const local = { kind: 'openai-compatible' as const, baseUrl: server.url };
  const config = { models: { providers: { local }, default: 'local/small' } };
  const host = await DurableHost.open({ agents: [desk], workflows, config });
  await expectWhole(host);
});

test('a script that says one huge piece is recorded whole, in rows that fit', async () => {
  const host = await DurableHost.open({
    agents: [defineAgent({ ...scripted, rehearsal: { turns: [[{ say: [text] }]] } })],
    workflows,
  });
  await expectWhole(host);
});

const scripted = { id: 'host:desk', persona: 'Desk', instructions: 'Greet.' };

async function expectWhole(host: DurableHost): Promise<void> {
  const runId = await host.ran('talk');
  const chunks = (await host.payloads(runId, 'output.chunk')).map(({ chunk }) => String(chunk));
  expect(chunks.join('')).toBe(text);
  expect(chunks.length).toBeGreaterThan(2);
  expect(chunks.every((one) => one.isWellFormed())).toBe(true);
  expect((await host.store.log.head(runId))?.record.status).toBe('completed');
}
