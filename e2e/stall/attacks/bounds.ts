/** Things that are many or long where nobody would look: versions, names of members, problems, recorded responses, shapes of input. */
import type { JsonObject } from '@cairn/protocol';
import { type Attack, definition } from '../attack.ts';
import { QUICK } from '../tenants.ts';

const noop = { nodes: [{ id: 'n', typeId: 'core.noop' }] };

/** An object with so many names that no other has. */
const named = (count: number, prefix: string): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 1]));

/** Ten at a time. */
const each = async <Item>(items: readonly Item[], ask: (item: Item) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < items.length; i += 10) await Promise.all(items.slice(i, i + 10).map(ask));
};

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

export const boundAttacks: readonly Attack[] = [
  {
    name: 'versions-of-450-kb',
    endsWith: ['validation_error'],
    async run(attacker) {
      const version = 'v'.repeat(450_000);
      await each(times(300), (i) =>
        attacker.send('/v1/workflows', { body: { ...definition(`long-version-${i}`, noop), version } }),
      );
      await each(times(30), () => attacker.send('/v1/workflows'));
    },
  },
  {
    name: 'names-of-45000-members',
    endsWith: ['payload_too_large'],
    async run(attacker) {
      if (!(await attacker.register('many-names', noop))) return attacker.fault('it was refused');
      for (const count of [9_000, 45_000]) {
        await each(times(20), (i) => attacker.start('many-names', { v: named(count, `n${i}-`) }));
      }
    },
  },
  {
    name: 'problems-of-one-body',
    endsWith: ['validation_error'],
    async run(attacker) {
      const budget = { configurable: { budget: named(9_000, 'limit-') } };
      const bodies: readonly (readonly [string, JsonObject])[] = [
        ['/v1/runs', named(9_000, 'unknown-')],
        ['/v1/runs', { workflowId: 'many-problems', ...budget }],
        ['/v1/runs', { workflowId: 'many-problems', configurable: { ['x'.repeat(400_000)]: 1 } }],
        ['/v1/webhooks', { url: 'https://example.org/', events: times(40_000).map(() => ({})) }],
      ];
      if (!(await attacker.register('many-problems', noop))) return attacker.fault('it was refused');
      for (const [path, body] of bodies) await each(times(20), () => attacker.send(path, { body }));
    },
  },
  {
    name: 'items-in-groups',
    endsWith: ['definition_too_large'],
    async run(attacker) {
      const group = { id: 'g', name: 'g', position: { x: 0, y: 0 }, nodeIds: Array(150_000).fill(1) };
      await each(times(10), (i) => attacker.register(`groups-${i}`, { ...noop, more: { groups: [group] } }));
    },
  },
  {
    name: 'inputs-with-new-names',
    async run(attacker) {
      await each(times(60), async (i) => {
        const inputs = named(100, `${i}-${'x'.repeat(1_000)}`);
        const { body } = await attacker.send('/v1/runs', { body: { agentId: QUICK, inputs } });
        await attacker.ended(typeof body.runId === 'string' ? body.runId : null);
      });
    },
  },
  {
    name: 'recorded-bulk-cancels',
    async run(attacker) {
      const runIds = times(20).map((i) => `run_00000000-0000-7000-8000-${String(i).padStart(12, '0')}`);
      await each(times(1_000), (i) =>
        attacker.send('/v1/runs:bulk-cancel', { body: { runIds }, headers: { 'idempotency-key': `nothing-${i}` } }),
      );
    },
  },
];
