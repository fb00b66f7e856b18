/** A running host takes a changed program: all of it or nothing, while runs keep what they started with. */
import { createClient } from '@cairn/client';
import type { JsonObject } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agents/define-agent.ts';
import { defineTool } from '../agents/tools/define-tool.ts';
import { defineStep } from '../engine/workflow/define-step.ts';
import { defineWorkflow } from '../engine/workflow/define-workflow.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { scopes } from './access/auth.ts';
import { parseConfig } from './config/config.ts';
import { startHost } from './create-host.ts';
import { type App, defineApp } from './define-app.ts';
import type { RunNotice } from './run-notices.ts';

const key = 'a-key-for-these-tests';
const config = parseConfig({ port: 0, keys: [{ key, tenant: 'a', scopes: [...scopes] }] }, 'test');

async function running(app: App, onRun?: (notice: RunNotice) => void) {
  const host = await startHost(config, { ...app, dev: true, store: inMemoryStore(), report: () => undefined, onRun });
  onTestFinished(() => host.close());
  const client = createClient({ url: host.url ?? '', key });
  return {
    host,
    client,
    start: async (workflowId: string) => (await client.runs.create({ workflowId })).runId,
    /** The payload of the run's first event of this type. */
    async first(runId: string, type: string): Promise<JsonObject> {
      for await (const event of client.follow(runId)) if (event.type === type) return event.payload as JsonObject;
      return {};
    },
  };
}

/** A step, an agent with a tool, and a workflow of both, all of which say `word`. */
function speaking(word: string, safety: 'pure' | 'write' = 'pure'): App {
  const step = defineStep({ name: 'speak', safety, run: async () => ({ word }) });
  const tool = defineTool({
    id: 'acme:speak',
    description: 'Says the word.',
    input: z.object({}),
    safety: 'pure',
    run: () => word,
  });
  const agent = defineAgent({
    id: 'host:speaker',
    persona: 'Speaker',
    instructions: 'Speak.',
    tools: [tool],
    rehearsal: { turns: [[{ call: { tool: 'acme:speak', input: {} } }], [{ say: `${word} {{last}}` }]] },
  });
  const gate = defineWorkflow({
    id: 'gate',
    nodes: { ask: { type: 'core.approvalGate', config: { title: word } }, say: { type: step } },
  });
  const talk = defineWorkflow({ id: 'talk', nodes: { say: { type: 'cairn.agent', agent } } });
  return defineApp({ steps: [step], tools: [tool], agents: [agent], workflows: [gate, talk] });
}

test('new runs use the new workflow, agent, tool and step', async () => {
  const { host, client, start, first } = await running(speaking('one'));
  await host.redefine(speaking('two'));
  expect(await first(await start('talk'), 'run.completed')).toMatchObject({ outputs: { content: 'two two' } });
  const gate = await start('gate');
  expect(await first(gate, 'interrupt.requested')).toMatchObject({ data: { title: 'two' } });
  await client.runs.answer(gate, 'ask', { action: 'accept' });
  expect(await first(gate, 'run.completed')).toMatchObject({ outputs: { word: 'two' } });
});

test('a run keeps its workflow and its agents, and calls the new functions', async () => {
  const { host, client, start, first } = await running(speaking('one'));
  const gate = await start('gate');
  await first(gate, 'interrupt.requested');
  const next = speaking('two');
  const renamed = next.workflows.map((workflow) => ({ ...workflow, nodes: workflow.nodes.slice(0, 1), edges: [] }));
  await host.redefine({ ...next, workflows: renamed });
  await client.runs.answer(gate, 'ask', { action: 'accept' });
  expect(await first(gate, 'run.completed')).toMatchObject({ outputs: { word: 'two' } });
});

test('a step that becomes less safe is one for new runs of an unchanged workflow', async () => {
  const { host, client, start, first } = await running(speaking('one'));
  await host.redefine(speaking('one', 'write'));
  const gate = await start('gate');
  await first(gate, 'interrupt.requested');
  await client.runs.answer(gate, 'ask', { action: 'accept' });
  expect(await first(gate, 'cairn.step.requested')).toMatchObject({ safety: 'write' });
});

const broken: Readonly<Record<string, (app: App) => App>> = {
  'a workflow that cannot be registered': (app) => ({
    ...app,
    workflows: [...app.workflows, defineWorkflow({ id: 'odd', nodes: { only: { type: 'core.nothing' } } })],
  }),
  'two tools of one name': (app) => ({ ...app, tools: [...app.tools, ...app.tools] }),
  'two steps of one name': (app) => ({ ...app, steps: [...app.steps, ...app.steps] }),
  'two agents of one name': (app) => ({ ...app, agents: [...app.agents, ...app.agents] }),
};

test.each(Object.entries(broken))('%s: nothing of the program changes', async (_, breaking) => {
  const { host, start, first } = await running(speaking('one'));
  await expect(host.redefine(breaking(speaking('two')))).rejects.toMatchObject({ name: 'TerminalError' });
  expect(await first(await start('talk'), 'run.completed')).toMatchObject({ outputs: { content: 'one one' } });
  expect(await first(await start('gate'), 'interrupt.requested')).toMatchObject({ data: { title: 'one' } });
});

test('a sub-workflow that is nearly one of the program is refused; another may be registered later', async () => {
  const { host } = await running(speaking('one'));
  const starting = (workflowId: string) =>
    defineApp({
      workflows: [
        defineWorkflow({ id: 'child', nodes: { a: { type: 'core.noop' } } }),
        defineWorkflow({ id: 'top', nodes: { a: { type: 'core.subWorkflow', config: { workflowId } } } }),
      ],
    });
  await expect(host.redefine(starting('chld'))).rejects.toThrow(
    'nodes[0].config.workflowId (node a): there is no workflow chld; did you mean child?',
  );
  await host.redefine(starting('child'));
  await host.redefine(starting('of-another-team'));
});

test('tells when runs start and how they end', async () => {
  const notices: RunNotice[] = [];
  const all = Promise.withResolvers<void>();
  const { client, start } = await running(speaking('one'), (notice) => {
    notices.push(notice);
    if (notices.length === 4) all.resolve();
  });
  const talk = await start('talk');
  for await (const _ of client.follow(talk));
  const gate = await start('gate');
  await client.runs.cancel(gate, 'enough');
  await all.promise;
  const durationMs = expect.any(Number);
  const root = { parentRunId: null, depth: 0 };
  expect(notices).toEqual([
    { type: 'run.started', ...root, runId: talk, workflowId: 'talk' },
    { type: 'run.completed', ...root, runId: talk, workflowId: 'talk', durationMs, reason: null },
    { type: 'run.started', ...root, runId: gate, workflowId: 'gate' },
    { type: 'run.cancelled', ...root, runId: gate, workflowId: 'gate', durationMs, reason: 'enough' },
  ]);
});
