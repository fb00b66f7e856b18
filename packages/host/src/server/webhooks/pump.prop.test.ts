import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PumpBench, refuse, take, turns } from './pump-bench.kit.ts';

type Deed =
  | { readonly kind: 'write'; readonly run: number; readonly types: readonly string[] }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'crash' };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    run: fc.nat(4),
    types: fc.array(fc.constantFrom('a', 'a', 'b'), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(500, 1_000, 20_000, 3_600_000) }),
  fc.constant({ kind: 'restart' as const }),
  fc.constant({ kind: 'crash' as const }),
);

test('whatever fails and whenever the host stops or dies, every row is told in its run’s order, and twice only after a death', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 25 }), fc.infiniteStream(fc.nat(9)), async (deeds, luck) => {
      const bench = new PumpBench({ policy: { maxInFlight: 3, window: 6 } });
      const expected: string[] = [];
      const told: string[] = [];
      const seqs = [0, 0, 0, 0, 0];
      let deaths = 0;
      let isHealed = false;
      for (const run of seqs.keys()) await bench.run(String(run));
      bench.receive = async (place) => {
        if (!isHealed && (luck.next().value ?? 0) < 3) return refuse;
        told.push(place);
        return take;
      };
      bench.start();
      for (const one of deeds) {
        if (one.kind === 'write') {
          for (const type of one.types) {
            seqs[one.run] = (seqs[one.run] ?? 0) + 1;
            if (type === 'a') expected.push(`run_${one.run}:${seqs[one.run]}`);
          }
          await bench.write(String(one.run), ...one.types);
        } else if (one.kind === 'pass') await bench.time.pass(one.ms);
        else if (one.kind === 'restart') {
          await bench.pump.close();
          bench.start();
        } else {
          // A death: whatever the old pump still does is not saved, and nobody waits for it.
          const { saved } = bench;
          const closing = bench.pump.close();
          await closing;
          bench.saved = saved;
          deaths += 1;
          bench.start();
        }
      }
      isHealed = true;
      for (let hour = 0; hour < 3; hour += 1) await bench.time.pass(3_600_001);
      await bench.pump.close();
      await turns();
      expect([...new Set(told)].toSorted()).toEqual(expected.toSorted());
      if (deaths === 0) expect(told).toHaveLength(expected.length);
      for (const run of seqs.keys()) {
        const order = [...new Set(told.filter((place) => place.startsWith(`run_${run}:`)))];
        expect(order).toEqual(expected.filter((place) => place.startsWith(`run_${run}:`)));
      }
      expect(bench.state.pending).toEqual([]);
    }),
    { numRuns: 150 },
  );
});
