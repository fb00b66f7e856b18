import type { WorkflowDefinition } from '@cairn/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { RunScript, workflowOf } from '../../test/kit/run-script.ts';
import { conversationGate, rehearsedGate } from '../engine/nodes/conversation-gate.ts';
import { createNodeTypeRegistry } from '../engine/nodes/node-types.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import { createHostOver } from '../server/create-host.ts';

async function engineOf(config: { readonly conformance?: boolean }) {
  const keys = [{ key: 'a-key-for-these-tests', tenant: 't' }];
  const wanted = { report: () => undefined, config: { port: 0, keys, ...config } };
  const host = await createHostOver(inMemoryStore(), wanted);
  onTestFinished(() => host.close());
  return host.engine;
}

/** Its id is that of a fixture: it must not matter. */
const named = { id: 'conformance-x' };
const gate = { type: 'core.conversationGate', config: { mockAutoResume: true, turnCount: 2 } };
const mocked = workflowOf({ talk: gate }, [], named);
const lacking = workflowOf({ a: 'conformance.requiresMissing' }, [], named);

const refusal = (registered: Promise<unknown>) =>
  registered.then(
    () => null,
    ({ message }: Error) => message,
  );

test.each<[string, WorkflowDefinition, string]>([
  ['a gate that takes its own turns', mocked, 'hosts under test'],
  ['a node that lacks a capability', lacking, 'conformance.requiresMissing'],
])('only a host under test registers %s', async (_, definition, problem) => {
  expect(await refusal((await engineOf({})).register('t', definition))).toContain(problem);
  expect(await refusal((await engineOf({ conformance: true })).register('t', definition))).toBeNull();
});

test('only a host under test lists node types of the fixtures', async () => {
  const ofFixtures = async (config: { readonly conformance?: boolean }) =>
    (await engineOf(config))
      .nodeTypes()
      .map(({ typeId }) => typeId)
      .filter((typeId) => typeId.startsWith('conformance.'));
  expect(await ofFixtures({})).toEqual([]);
  expect(await ofFixtures({ conformance: true })).toContain('conformance.requiresMissing');
});

test('the gate of a host under test takes its turns, the usual one waits for people even if its workflow is stored', () => {
  const ran = (type: typeof conversationGate) =>
    new RunScript(mocked, { nodeTypes: createNodeTypeRegistry([], [{ ...type, check: () => [] }]) });
  const rehearsed = ran(rehearsedGate);
  expect(rehearsed.status).toBe('completed');
  expect(rehearsed.last('interrupt.resolved').resolvedBy ?? rehearsed.last('interrupt.resolved').by).toBe(
    'conformance',
  );
  const usual = ran(conversationGate);
  expect(usual.status).toBe('waiting-approval');
  expect(usual.types()).not.toContain('interrupt.resolved');
});
