/** A run keeps the prompt templates it started with, whatever becomes of them: over a real database, across restarts. */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject, RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { defineAgent } from '../../agents/define-agent.ts';
import type { PromptTemplate } from '../../engine/ports.ts';
import { defineWorkflow } from '../../engine/workflow/define-workflow.ts';
import { DurableHost } from '../durable-host.kit.ts';

const calm = (text: string, version = '1.0.0'): PromptTemplate => ({
  templateId: 'calm',
  version,
  kind: 'system',
  text,
});
const hashOf = (text: string): string => `sha256:${hash('sha256', text)}`;

const agent = defineAgent({
  id: 'host:desk',
  persona: 'Desk',
  instructions: 'Own words.',
  rehearsal: { turns: [[{ say: 'Done.' }]] },
});

const gate = { type: 'core.approvalGate', config: { title: 'Go on?' } } as const;
const speaking = (config: JsonObject) => ({ type: 'cairn.agent' as const, agent, config });
const flow = (id: string, config: JsonObject) => defineWorkflow({ id, nodes: { ask: gate, say: speaking(config) } });

const workflows = [
  flow('talk', { systemPromptRef: 'prompt:calm' }),
  flow('exact', { systemPromptRef: 'prompt:calm@1.0.0' }),
  flow('lost', { systemPromptRef: 'prompt:gone' }),
  defineWorkflow({ id: 'outer', nodes: { inner: { type: 'core.subWorkflow', config: { workflowId: 'talk' } } } }),
];

const opened = (prompts: readonly PromptTemplate[] = [calm('Be calm.')]) =>
  DurableHost.open({ prompts, workflows, agents: [agent] });

async function finished(host: DurableHost, runId: RunId): Promise<readonly JsonObject[]> {
  await host.answer(runId, 'ask');
  await host.ended(runId);
  return host.payloads(runId, 'prompt.composed');
}

test('a run keeps a template that is changed, removed or followed by a newer one; a new run has the one of now', async () => {
  const host = await opened([calm('Be calm.', '0.9.0'), calm('Be calm.')]);
  const kept = { refs: ['prompt:calm@1.0.0'], hash: hashOf('Be calm.') };
  const changes = [[calm('Be loud.')], [calm('Be calm.'), calm('Be loud.', '2.0.0')], []];
  const runs: RunId[] = [];
  for (const _ of changes) runs.push(await host.start('talk'), await host.start('exact'));
  const [started] = await host.payloads(runs[0] as RunId, 'run.started');
  const pin = { hash: expect.stringMatching(/^[0-9a-f]{64}$/), ref: 'prompt:calm@1.0.0' };
  expect(started?.prompts).toEqual({ 'prompt:calm': pin });
  for (const [i, prompts] of changes.entries()) {
    await host.restart({ prompts });
    for (const runId of runs.slice(2 * i, 2 * i + 2)) expect(await finished(host, runId)).toMatchObject([kept]);
    const now = prompts.length === 0 ? [] : [{ hash: hashOf('Be loud.') }];
    expect(await finished(host, await host.start('talk'))).toMatchObject(now);
  }
});

test('a child is pinned when it starts, and keeps its template', async () => {
  const host = await opened();
  const parent = await host.start('outer');
  const below = async () =>
    (await host.store.runIndex.list({ tenant: 'local', limit: 9 })).runs.find(
      ({ parentRunId }) => parentRunId === parent,
    );
  await host.until(async () => (await below()) !== undefined);
  const child = (await below())?.runId as RunId;
  await host.asks(child);
  await host.restart({ prompts: [] });
  expect(await finished(host, child)).toMatchObject([{ hash: hashOf('Be calm.') }]);
});

test('a template that the host lacked when the run started fails its node, even if the host has it later', async () => {
  const host = await opened();
  const runId = await host.start('lost');
  expect((await host.payloads(runId, 'run.started'))[0]?.prompts).toEqual({});
  await host.restart({ prompts: [{ ...calm('Found.'), templateId: 'gone' }] });
  expect(await finished(host, runId)).toEqual([]);
  expect(await host.payloads(runId, 'node.failed')).toMatchObject([
    {
      error: {
        code: 'config_validation_failed',
        message: 'There was no prompt template prompt:gone when the run started.',
      },
    },
  ]);
});

test('a run from before templates were pinned uses those of the host', async () => {
  const host = await opened();
  const runId = await host.start('talk');
  await host.stop();
  const db = new DatabaseSync(join(host.folder, 'cairn.db'));
  db.exec(`UPDATE events SET payload = json_remove(payload, '$.prompts') WHERE type = 'run.started'`);
  db.exec('DELETE FROM checkpoints');
  db.close();
  await host.restart({ prompts: [calm('Be loud.')] });
  expect(await finished(host, runId)).toMatchObject([{ hash: hashOf('Be loud.') }]);
});

test('forks keep the templates of their source at every cut; the overlay of a branch replaces them', async () => {
  const host = await opened();
  const runId = await host.start('talk');
  await finished(host, runId);
  const rows = await host.rows(runId);
  await host.restart({ prompts: [] });
  const branched = async (fromSeq: number, prompts?: Record<string, string>) => {
    const overlay = prompts === undefined ? {} : { overlay: { prompts } };
    const fork = await host.engine.fork({ tenant: 'local', runId, mode: 'branch', fromSeq, ...overlay });
    const isAsked = fromSeq > rows.findIndex(({ type }) => type === 'interrupt.resolved');
    if (!isAsked) {
      await host.asks(fork.runId);
      await host.answer(fork.runId, 'ask');
    }
    await host.ended(fork.runId);
    return fork.runId;
  };
  const cuts = [0, 1, ...rows.flatMap(({ type, seq }) => (type === 'node.started' ? [seq] : []))];
  for (const fromSeq of cuts) {
    const composed = await host.payloads(await branched(fromSeq), 'prompt.composed');
    expect(composed, `at ${fromSeq}`).toMatchObject([{ hash: hashOf('Be calm.') }]);
  }
  const overlaid = await branched(cuts.at(-1) ?? 0, { 'host:desk': 'Be quick.' });
  expect(await host.payloads(overlaid, 'prompt.composed')).toEqual([]);
  const [resolved] = await host.payloads(overlaid, 'agent.promptResolved');
  expect(resolved?.chain).toMatchObject([
    { layer: 'run-configurable', applied: true },
    { layer: 'node', source: 'prompt:calm', applied: false, reason: 'superseded by run-configurable' },
    { layer: 'agent-intrinsic', applied: false },
    { layer: 'workflow-defaults', applied: false },
    { layer: 'host-defaults', applied: false },
  ]);
  // A replay decides as recorded.
  for (const fromSeq of [0, 4]) {
    const replay = await host.engine.fork({ tenant: 'local', runId, mode: 'replay', fromSeq });
    await host.ended(replay.runId);
    const shown = async (id: RunId) =>
      (await host.rows(id)).map(({ type, nodeId, payload }) => [type, nodeId, payload]);
    expect(await shown(replay.runId)).toEqual(await shown(runId));
  }
});

test('a run does not start with a template that holds a secret of the host', async () => {
  const secret = 'sk-a-secret-of-this-host';
  const host = await DurableHost.open({
    prompts: [calm(`Use ${secret}.`)],
    workflows,
    agents: [agent],
    config: { secrets: { token: { value: secret } } },
  });
  await expect(host.start('talk')).rejects.toMatchObject({
    code: 'validation_error',
    message: expect.stringContaining('The prompt template prompt:calm@1.0.0 (text) holds a secret of this host'),
  });
});
