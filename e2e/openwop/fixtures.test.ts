/** The published fixtures, registered verbatim and run over HTTP, end as the protocol says; every word is schema-valid. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { present } from '../../packages/host/test/kit/present.ts';
import { agentScenarios } from './agent-scenarios.ts';
import { conversationScenarios } from './conversation-scenarios.ts';
import { gated, postponed, registeredOnly } from './fixture-table.ts';
import { interruptScenarios } from './interrupt-scenarios.ts';
import { limitScenarios } from './limit-scenarios.ts';
import { memoryScenarios } from './memory-scenarios.ts';
import type { Fixture, OpenwopData } from './openwop-data.ts';
import { orchestrationScenarios } from './orchestration-scenarios.ts';
import { packScenarios } from './pack-scenarios.ts';
import { promptScenarios } from './prompt-scenarios.ts';
import { replayScenarios } from './replay-scenarios.ts';
import { runScenarios } from './run-scenarios.ts';
import type { Scenarios } from './scenario.ts';
import { WireHost } from './wire-host.ts';
import { type WireSchemas, wireSchemas } from './wire-schemas.ts';
import { withOpenwop } from './with-openwop.ts';

const scenarios: Scenarios = {
  ...runScenarios,
  ...limitScenarios,
  ...interruptScenarios,
  ...conversationScenarios,
  ...memoryScenarios,
  ...agentScenarios,
  ...orchestrationScenarios,
  ...packScenarios,
  ...promptScenarios,
  ...replayScenarios,
};

withOpenwop('the published fixtures', (data) => {
  const schemas = wireSchemas(data);
  describe('every fixture', () => {
    test('is run, refused or postponed for a reason, and in one list only', () => {
      const others = [gated, postponed].flatMap((table) => Object.values(table).flat());
      const listed = [...Object.keys(scenarios), ...registeredOnly, ...others];
      expect(listed.sort()).toEqual([...data.fixtures.keys()].sort());
    });
  });
  accepted(data, schemas);
  test.each(registeredOnly)('%s registers verbatim', async (id) => {
    await using host = await WireHost.open(schemas);
    const fixture = data.fixtures.get(id) as Fixture;
    const { status, body } = await host.register(fixture);
    expect([status, body]).toEqual([201, { workflowId: id, version: fixture.definition.version }]);
  });
  refused(data, schemas);
});

function accepted(data: OpenwopData, schemas: WireSchemas): void {
  describe.each(Object.keys(scenarios))('%s', (id) => {
    const fixture = data.fixtures.get(id) as Fixture;
    let host: WireHost;
    beforeAll(async () => {
      host = await WireHost.open(schemas);
      expect((await host.register(fixture)).status).toBe(201);
    });
    afterAll(() => host?.[Symbol.asyncDispose]());

    test('registers verbatim, again without complaint, and is given back as it was', async () => {
      const again = await host.register(fixture);
      expect([200, 201]).toContain(again.status);
      expect(again.body).toEqual({ workflowId: id, version: fixture.definition.version });
      const { body } = await host.call('GET', `/v1/workflows/${id}`);
      schemas.checkDefinition(body);
      expect(body).toEqual(fixture.definition);
    });

    for (const scenario of present(scenarios[id])) test(scenario.name, () => scenario.run(host));
  });
}

function refused(data: OpenwopData, schemas: WireSchemas): void {
  describe.each(Object.entries(gated))('%s', (_reason, ids) => {
    let host: WireHost;
    beforeAll(async () => {
      host = await WireHost.open(schemas);
    });
    afterAll(() => host?.[Symbol.asyncDispose]());

    test.each(ids)('%s is refused at registration, by node and type', async (id) => {
      const fixture = data.fixtures.get(id) as Fixture;
      const nodes = fixture.definition.nodes as readonly { readonly id: string; readonly typeId: string }[];
      const { status, body } = await host.register(fixture);
      expect(status).toBe(400);
      const refusal = { error: body.error, ...(body.details as object) };
      const gate = nodes.find(({ typeId }) => closedMap[typeId] !== undefined);
      if (gate === undefined) {
        expect(refusal).toMatchObject({ error: expect.stringMatching(/^(capability_required|validation_error)$/) });
        const message = String(body.message);
        const names = ({ id, typeId }: { readonly id: string; readonly typeId: string }): boolean =>
          message.includes(id) && [typeId, 'agent.channel'].some((what) => message.includes(what));
        expect(nodes.some(names), message).toBe(true);
      } else {
        const named = { nodeId: gate.id, offendingTypeId: gate.typeId, requiredCapability: closedMap[gate.typeId] };
        expect(refusal).toMatchObject({ error: 'capability_required', ...named });
      }
      expect((await host.create({ workflowId: id })).status).toBe(404);
    });
  });
}

/** The capabilities the protocol itself assigns to gated node types. */
const closedMap: Readonly<Record<string, string>> = {
  'core.conversationGate': 'conversationPrimitive',
  'core.orchestrator.supervisor': 'orchestrator',
  'core.dispatch': 'dispatch',
};
