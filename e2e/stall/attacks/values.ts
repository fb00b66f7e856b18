/** Large values: in inputs, variables, results, bodies. */
import { objects } from '../../../packages/host/test/kit/json-fields.ts';
import type { Attack } from '../attack.ts';
import { chain, definition, fan, fixedInput, looped } from '../attack.ts';
import { BLOB, QUICK, SAMPLE } from '../tenants.ts';

export const blobNode = (index: number, kilobytes: number) => ({
  id: `blob${index}`,
  typeId: BLOB,
  inputs: { kilobytes: fixedInput(kilobytes) },
});

export const valueAttacks: readonly Attack[] = [
  {
    name: 'copies-of-an-input',
    async run(attacker) {
      const copy = { id: 'copy', typeId: 'core.setVariable', config: { name: 'v', expression: 'inputs.text' } };
      if (!(await attacker.register('copies', looped(400, copy)))) return;
      const text = 'x'.repeat(200_000);
      const runs = await Promise.all(Array.from({ length: 4 }, () => attacker.start('copies', { text })));
      for (const runId of runs) await attacker.ended(runId);
    },
  },
  {
    name: 'results-of-23-MB-at-once',
    run: (attacker) =>
      attacker.play(
        'results',
        fan(100, (index) => blobNode(index, 230)),
      ),
  },
  {
    name: 'results-one-after-another',
    run: (attacker) => attacker.play('results-chain', chain(Array.from({ length: 200 }, (_, i) => blobNode(i, 230)))),
  },
  {
    name: 'number-that-overflows',
    endsWith: ['validation_error', 'invalid_json', 'bad_request'],
    async run(attacker) {
      const body = '{"workflowId":"leaf","inputs":{"n":1e999}}';
      await attacker.send('/v1/runs', { body });
      await attacker.send('/v1/runs', { body, headers: { 'idempotency-key': 'overflow' } });
    },
  },
  {
    name: 'deep-json',
    async run(attacker) {
      await attacker.send('/v1/runs', { body: `${'['.repeat(500_000)}` });
      await attacker.send('/v1/runs', { body: `{"inputs":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}` });
    },
  },
  {
    name: 'large-bodies',
    async run(attacker) {
      const text = 'x'.repeat(1_000_000);
      const start = { workflowId: 'leaf', inputs: { text } };
      await Promise.all(Array.from({ length: 40 }, () => attacker.send('/v1/runs', { body: start })));
      await attacker.send('/v1/runs', { body: { ...start, inputs: { text: text.repeat(5) } } });
    },
  },
  {
    name: 'large-bodies-of-many-parts',
    async run(attacker) {
      const parts = Array.from({ length: 45_000 }, () => ({}));
      const body = JSON.stringify({ workflowId: 'absent', inputs: { parts } });
      for (let i = 0; i < 3; i += 1)
        await Promise.all(Array.from({ length: 60 }, () => attacker.send('/v1/runs', { body })));
    },
  },
  {
    name: 'prompts-of-thousands-of-examples',
    endsWith: ['config_validation_failed'],
    async run(attacker) {
      const asked = definition('prompts', { nodes: [{ id: 'ask', typeId: 'cairn.agent' }] });
      const nodes = objects(asked.nodes).map((node) => ({
        ...node,
        agent: { agentId: QUICK },
        config: { fewShotPromptRefs: Array.from({ length: 4_900 }, () => `prompt:${SAMPLE}`) },
        inputs: { doc: { type: 'expression', expression: 'inputs.doc' } },
      }));
      await attacker.send('/v1/workflows', { body: { ...asked, nodes } });
      const runs = await Promise.all(
        Array.from({ length: 10 }, () => attacker.start('prompts', { doc: 'x'.repeat(200_000) })),
      );
      for (const runId of runs) await attacker.ended(runId);
    },
  },
  {
    name: 'inputs-that-are-one-large-value',
    endsWith: ['event_too_large', 'run_state_too_large'],
    async run(attacker) {
      const large = { type: 'variable', variableName: 'doc' };
      const names = Array.from({ length: 1_500 }, (_, i) => `i${i}`);
      const identity = {
        id: 'a',
        typeId: 'core.identity',
        inputs: Object.fromEntries(names.map((name) => [name, large])),
      };
      const inputMapping = Object.fromEntries(names.map((name) => [name, 'doc']));
      const child = { id: 'a', typeId: 'core.subWorkflow', config: { workflowId: 'one-value', inputMapping } };
      const more = { variables: [{ name: 'doc', type: 'string' }] };
      await attacker.register('one-value', { nodes: [identity], more });
      await attacker.register('one-value-child', { nodes: [child], more });
      const doc = 'x'.repeat(400_000);
      const runs = await Promise.all(
        Array.from({ length: 20 }, (_, i) => attacker.start(i % 2 === 0 ? 'one-value' : 'one-value-child', { doc })),
      );
      for (const runId of runs) await attacker.ended(runId);
    },
  },
  {
    name: 'many-keys',
    async run(attacker) {
      // Just below what a body may have.
      const inputs = Object.fromEntries(Array.from({ length: 45_000 }, (_, index) => [`k${index}`, 0]));
      await attacker.play(
        'many-keys',
        chain([
          { id: 'a', typeId: 'core.identity' },
          { id: 'b', typeId: 'core.identity' },
        ]),
        inputs,
      );
    },
  },
];
