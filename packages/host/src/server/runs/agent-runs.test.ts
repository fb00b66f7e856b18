import { agentRef, type Json, type JsonObject, runCreated, runSnapshotSchema } from '@cairn/protocol';
import { describe, expect, test } from 'vitest';
import { actingNode } from '../../../test/kit/acting-node.ts';
import { idToken } from '../../../test/kit/payload-ids.ts';
import { promptWords, sampleAgentId, samplePack } from '../../../test/kit/sample-pack.ts';
import { defineAgent } from '../../agents/define-agent.ts';
import { defineWorkflow, variable } from '../../engine/workflow/define-workflow.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { keys, type Served, type ServedOptions, served } from '../served.kit.ts';
import { agentFacts as facts } from './agent-facts.kit.ts';

const desk = defineAgent({ id: 'host:Front_Desk', persona: 'Desk', instructions: 'Greet.' });

async function host(options: ServedOptions = {}): Promise<Served> {
  const agents = { facts, nodeTypes: [actingNode], performers: [], own: [desk] };
  const started = await served({ agents, ...options });
  await started.registry.install('t', samplePack());
  return started;
}

const created = (on: Served, body: JsonObject, headers: Record<string, string> = {}, key = keys.alice) =>
  on.ask('POST', '/v1/runs', { body, headers, key });

/** The events of a run, with what is its own replaced by what it stands for. */
async function history(on: Served, run: JsonObject): Promise<Json> {
  const { body } = await on.ask('GET', `/v1/runs/${run.runId}/events`, { key: keys.auditor });
  const text = JSON.stringify(body.events)
    .replaceAll(String(run.runId), 'RUN')
    .replaceAll(idToken(String(run.runId)), 'TOKEN')
    .replaceAll(String(run.workflowId), 'WORKFLOW')
    .replaceAll(/"definitionHash":"[0-9a-f]+"/g, '"definitionHash":"HASH"')
    .replaceAll(/"contextId":"[^"]+"/g, '"contextId":"CONTEXT"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":0');
  return JSON.parse(text) as Json;
}

describe('a run of an agent', () => {
  test('is a run of one node that acts as it, with the inputs of the run', async () => {
    const on = await host();
    const inputs = { message: 'Hello', urgent: null, order: { lines: [1, 2] } };
    const run = await created(on, { agentId: sampleAgentId, inputs });
    expect([run.status, runCreated.parse(run.body).workflowId]).toEqual([201, 'agent-run-vendor-acme-desk-triage']);
    const { body } = await on.ask('GET', `/v1/runs/${run.body.runId}`);
    expect(runSnapshotSchema.parse(body)).toMatchObject({
      status: 'completed',
      workflowId: 'agent-run-vendor-acme-desk-triage',
      agent: { agentId: sampleAgentId, name: 'Triage', version: '1.0.0' },
      outputs: { agentId: sampleAgentId, prompts: { [sampleAgentId]: promptWords }, inputs },
    });
    expect(agentRef.parse(body.agent)).toEqual(body.agent);
  });

  test('is event by event the run of a workflow whose node names the agent', async () => {
    const on = await host();
    const inputs = { message: 'Hello', order: { lines: [1, 2] } };
    const pinned = defineWorkflow({
      id: 'pinned',
      version: '1',
      variables: { message: { type: 'string' }, order: { type: 'object' } },
      nodes: {
        agent: {
          type: 'cairn.agent',
          agent: sampleAgentId,
          inputs: { message: variable('message'), order: variable('order') },
        },
      },
    });
    await on.engine.register('t', pinned);
    const options = { configurable: { escalationThreshold: 0.4 }, tags: ['x'], metadata: { a: 1 } };
    const sugar = await created(on, { agentId: sampleAgentId, inputs, ...options });
    const plain = await created(on, { workflowId: 'pinned', inputs, ...options });
    expect(await history(on, sugar.body)).toEqual(await history(on, plain.body));
  });

  test('can be of an agent of the code, whatever letters are in its id', async () => {
    const on = await host();
    const run = await created(on, { agentId: 'host:Front_Desk' });
    expect([run.status, run.body.workflowId]).toEqual([201, 'agent-run-host-front_desk']);
    expect((await on.ask('GET', `/v1/runs/${run.body.runId}`)).body.agent).toEqual({
      agentId: 'host:Front_Desk',
      name: 'Desk',
      modelClass: 'chat',
      version: '1.2.3',
    });
  });

  test('adds nothing to the workflows of the tenant', async () => {
    const on = await host();
    await created(on, { agentId: sampleAgentId });
    expect((await on.ask('GET', '/v1/workflows')).body).toEqual({ workflows: [] });
  });

  test('is created once for one idempotency key', async () => {
    const on = await host();
    const key = { 'idempotency-key': 'k-1' };
    const answers = [
      await created(on, { agentId: sampleAgentId }, key),
      await created(on, { agentId: sampleAgentId }, key),
    ];
    expect(answers[1]?.text).toBe(answers[0]?.text);
    expect((await on.ask('GET', '/v1/runs')).body.runs).toHaveLength(1);
  });

  test.each([
    [{ agentId: 'vendor.acme.none.agent' }, 404, 'not_found', { agentId: 'vendor.acme.none.agent', nodeId: 'agent' }],
    [{ agentId: sampleAgentId, workflowId: 'noop' }, 400, 'validation_error', { field: 'agentId' }],
    [{ agentId: 'did:web:acme.example' }, 400, 'validation_error', { field: 'agentId' }],
    [{ agentId: 'host:a2a:peer.example:writer' }, 400, 'validation_error', { field: 'agentId' }],
    [{ agentId: 'core.system' }, 400, 'validation_error', { field: 'agentId' }],
    [{ agentId: '' }, 400, 'validation_error', {}],
    [{ agentId: 7 }, 400, 'validation_error', {}],
    [{ agentId: sampleAgentId, inputs: { constructor: 1 } }, 400, 'validation_error', {}],
    [{ agentId: sampleAgentId, inputs: [] }, 400, 'validation_error', {}],
  ])('is refused: %j', async (body, status, error, details) => {
    const reply = await created(await host(), body as JsonObject);
    expect([reply.status, reply.body]).toMatchObject([status, { error, details }]);
  });

  test('cannot be of an agent of another tenant', async () => {
    const reply = await created(await host(), { agentId: sampleAgentId }, {}, keys.stranger);
    expect([reply.status, reply.body.error]).toEqual([404, 'not_found']);
  });

  test('is refused where nothing runs agents', async () => {
    const reply = await created(await served(), { agentId: sampleAgentId });
    expect(reply.body).toMatchObject({
      error: 'capability_required',
      details: { requiredCapability: 'agents.liveRuntime' },
    });
  });

  test('keeps no secret in the name of an input', async () => {
    const secret = 'correct-horse-battery';
    const on = await host({ redactor: createRedactor([{ name: 'spare', value: secret }]) });
    const reply = await created(on, { agentId: sampleAgentId, inputs: { [secret]: 1 } });
    expect([reply.status, reply.body]).toMatchObject([
      400,
      { error: 'validation_error', details: { path: expect.any(Array) } },
    ]);
  });
});

describe('a context', () => {
  const contextOf = async (on: Served, runId: Json | undefined) =>
    (await on.ask('GET', `/v1/runs/${runId}`)).body.contextId;

  test('is named by the answer that creates a run, by the run and by the list', async () => {
    const on = await host();
    const { body } = await created(on, { agentId: sampleAgentId });
    expect(body.contextId).toMatch(/^ctx_/);
    expect(await contextOf(on, body.runId)).toBe(body.contextId);
    const { runs } = (await on.ask('GET', '/v1/runs')).body as { runs: JsonObject[] };
    expect(runs.map(({ contextId }) => contextId)).toEqual([body.contextId]);
  });

  test('is joined by a run that names it, whose rows then follow in it', async () => {
    const on = await host();
    const first = await created(on, { agentId: sampleAgentId, inputs: { message: 'One' } });
    const configurable = { 'cairn.contextId': first.body.contextId as string };
    const second = await created(on, { agentId: sampleAgentId, inputs: { message: 'Two' }, configurable });
    expect([second.status, second.body.contextId]).toEqual([201, first.body.contextId]);
    expect(await contextOf(on, second.body.runId)).toBe(first.body.contextId);
    const rows = await on.store.log.read({ contextId: first.body.contextId as never, afterCursor: 0, limit: 100 });
    const starts = rows.filter(({ type }) => type === 'run.started').map(({ runId }) => runId);
    expect(starts).toEqual([first.body.runId, second.body.runId]);
  });

  test('of another tenant looks like one that is not there', async () => {
    const on = await host();
    const { body } = await created(on, { agentId: 'host:Front_Desk' }, {}, keys.stranger);
    const reply = async (contextId: string) => {
      const { status, text } = await created(on, {
        agentId: sampleAgentId,
        configurable: { 'cairn.contextId': contextId },
      });
      return [status, text.replaceAll(contextId, 'CONTEXT')];
    };
    const foreign = await reply(String(body.contextId));
    expect(foreign).toEqual(await reply('ctx_none'));
    expect(foreign[0]).toBe(404);
    expect((await on.ask('GET', '/v1/runs')).body.runs).toEqual([]);
  });

  test.each([7, '', 'x'.repeat(129), null])('cannot be called %j', async (contextId) => {
    const configurable = { 'cairn.contextId': contextId };
    const reply = await created(await host(), { agentId: sampleAgentId, configurable });
    expect([reply.status, reply.body.error]).toEqual([400, 'validation_error']);
  });
});
