/** Pack fixtures: installed content is listed and runs, with its provenance, and within its schemas. */
import type { JsonObject } from '@cairn/protocol';
import { expect } from 'vitest';
import { makeTarball } from '../../packages/host/src/agents/packs/tarball.ts';
import { fields, fieldsOrNone } from '../../packages/host/test/kit/json-fields.ts';
import type { Scenario, Scenarios } from './scenario.ts';
import type { WireHost } from './wire-host.ts';

const pack = (
  name: string,
  agent: JsonObject,
  files: Readonly<Record<string, JsonObject | string>>,
  version = '1.0.0',
): Buffer => {
  const manifest = {
    name,
    version,
    engines: { openwop: '>=1.0 <2.0.0' },
    runtime: { language: 'remote', entry: 'none' },
    agents: [agent],
  };
  const all = { 'pack.json': manifest, ...files };
  return makeTarball(
    new Map(
      Object.entries(all).map(([path, content]) => [
        path,
        Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
      ]),
    ),
  );
};

async function install(host: WireHost, tarball: Buffer): Promise<void> {
  const { status, body } = await host.call('POST', '/v1/host/cairn/packs', {
    body: { tarball: tarball.toString('base64') },
  });
  expect([201, 409], JSON.stringify(body)).toContain(status);
}

const conformancePack = pack(
  'core.conformance.agent-pack',
  {
    agentId: 'core.conformance.agent-pack.installed-agent',
    persona: 'Installed Agent',
    modelClass: 'general',
    systemPrompt: 'You were installed.',
    toolAllowlist: [],
  },
  {},
);

const installs: Scenario = {
  name: 'lists the agents of the pack once it is installed, and completes beside it',
  async run(host) {
    await install(host, conformancePack);
    const { body } = await host.call('GET', '/v1/agents');
    expect(body.agents).toMatchObject([
      {
        agentId: 'core.conformance.agent-pack.installed-agent',
        persona: 'Installed Agent',
        modelClass: 'general',
        packName: 'core.conformance.agent-pack',
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('You were installed.');
    expect((await (await host.start('conformance-agent-pack-install')).ended()).status).toBe('completed');
  },
};

/** Both routes are optional. A host that does not serve them returns 404. */
const noRegistry = (workflowId: string, path: string): Scenario => ({
  name: `completes; ${path} is not served`,
  async run(host) {
    expect((await host.call('GET', path)).status).toBe(404);
    expect((await (await host.start(workflowId)).ended()).status).toBe('completed');
  },
});

const provenance: Scenario = {
  name: 'says on node and run which manifest its agent is from',
  async run(host) {
    await install(host, conformancePack);
    const view = await (await host.start('conformance-agent-pack-provenance')).ended();
    const agent = {
      agentId: 'core.conformance.pack-installed-agent',
      sourceManifestId: 'core.conformance.agent-pack.installed-agent',
    };
    expect(view.status).toBe('completed');
    expect(view.snapshot.agent).toMatchObject(agent);
    expect(view.payloads('node.completed')).toMatchObject([{ agent }]);
  },
};

const structured = 'core.openwop.agent-examples.structured-fixture';

const closed = (name: string, schema: JsonObject): JsonObject => ({
  type: 'object',
  required: [name],
  additionalProperties: false,
  properties: { [name]: schema },
});

/** A pack whose agent always gives this answer. Versions are immutable, so another answer needs another version. */
const structuredPack = (answer: JsonObject, version: string): Buffer =>
  pack(
    'core.openwop.agent-examples',
    {
      agentId: structured,
      persona: 'Structured Fixture',
      modelClass: 'general',
      systemPrompt: 'Answer as your schema says.',
      toolAllowlist: [],
      handoff: { taskSchemaRef: 'schemas/task.json', returnSchemaRef: 'schemas/return.json' },
    },
    {
      'schemas/task.json': closed('question', { type: 'string' }),
      'schemas/return.json': closed('answer', { type: 'number' }),
      // The second turn follows after the agent is told that its first answer does not match the schema.
      'rehearsals/structured-fixture.json': { turns: [[{ answer }], [{ answer }]] },
    },
    version,
  );

async function dispatched(host: WireHost, answer: JsonObject, inputs: JsonObject) {
  await install(host, structuredPack(answer, typeof answer.answer === 'number' ? '1.0.0' : '1.0.1'));
  const view = await (await host.startAgent(structured, inputs)).ended();
  return { view, failed: fieldsOrNone(view.payloads('node.failed')[0]?.error) };
}

const validTask: Scenario = {
  name: 'the agent it is about takes a task that fits, and its result is stored',
  async run(host) {
    const { view } = await dispatched(host, { answer: 42 }, { question: 'How many?' });
    expect(view.snapshot).toMatchObject({ status: 'completed', agent: { agentId: structured } });
    expect(view.payloads('node.completed')).toMatchObject([{ outputs: { result: { answer: 42 } } }]);
    const agentEvents = view.events.filter(({ type }) => type.startsWith('agent.'));
    expect(agentEvents.map(({ type }) => type)).toEqual([
      'agent.invocation.started',
      'agent.promptResolved',
      'agent.reasoned',
      'agent.decided',
      'agent.invocation.completed',
    ]);
    for (const { payload } of agentEvents) expect(fields(payload).agentId).toBe(structured);
  },
};

const wrongTask: Scenario = {
  name: 'the agent never sees a task that does not fit',
  async run(host) {
    const { view, failed } = await dispatched(host, { answer: 42 }, { question: 7 });
    expect([view.status, failed.code]).toEqual(['failed', 'handoff_task_schema_violation']);
    expect(view.types).not.toContain('agent.decided');
    expect(view.payloads('cairn.model.requested')).toEqual([]);
  },
};

const wrongResult: Scenario = {
  name: 'a result that does not fit is never stored, after the agent was told so once',
  async run(host) {
    const { view, failed } = await dispatched(host, { answer: 'many' }, { question: 'How many?' });
    expect([view.status, failed.code]).toEqual(['failed', 'handoff_return_schema_violation']);
    expect(view.payloads('node.completed')).toEqual([]);
    expect(view.payloads('agent.invocation.completed')).toMatchObject([{ outcome: 'failed' }]);
    expect(view.payloads('cairn.model.requested')).toHaveLength(2);
  },
};

export const packScenarios: Scenarios = {
  'conformance-agent-pack-install': [installs, noRegistry('conformance-agent-pack-install', '/v1/packs')],
  'conformance-agent-pack-export': [noRegistry('conformance-agent-pack-export', '/v1/packs/export')],
  'conformance-agent-pack-provenance': [provenance],
  'conformance-agent-pack-handoff-schema-validation': [validTask, wrongTask, wrongResult],
};
