import type { JsonObject } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { CallContext, Step } from '../../engine/ports.ts';
import { type LargeResultPorts, withLargeValues } from './large-steps.ts';

test('large results of one turn of the event loop are made text in turns of their tenant', async () => {
  const turns: (() => void)[] = [];
  const tenants = new Set<string>();
  const longWork: LargeResultPorts['longWork'] = {
    take(tenant, work) {
      tenants.add(tenant);
      const { promise, resolve } = Promise.withResolvers<ReturnType<typeof work>>();
      turns.push(() => resolve(work()));
      return promise;
    },
  };
  let made = 0;
  const large: JsonObject = { text: 'x'.repeat(100_000) };
  Object.defineProperty(large, 'toJSON', {
    value: () => {
      made += 1;
      return { text: 'x' };
    },
  });
  const step: Step = { typeId: 'local.step.make', safety: 'pure', run: async () => large };
  const { shrink } = withLargeValues(step, { longWork } as LargeResultPorts);
  const results = Array.from({ length: 3 }, () => shrink?.(large, { tenant: 't' } as CallContext));
  for (let hops = 0; hops < 20; hops += 1) await null;
  expect([made, turns.length, [...tenants]]).toEqual([0, 3, ['t']]);
  for (const turn of turns.splice(0, 1)) turn();
  expect(made).toBe(1);
  for (const turn of turns) turn();
  expect(await Promise.all(results)).toEqual([large, large, large]);
});
