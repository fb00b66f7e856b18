/** The contract of pages of a context, and of the columns of task faces, for every store. */
import type { ContextId, RunId } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import {
  confidenceOf,
  isForOperators,
  isOfSubtask,
  kindOf,
  thoughtTypeOf,
  verbosityOf,
} from '../tasks/face-columns.ts';
import { eachStore, type Open } from './contract.kit.ts';
import type { Row } from './rows.ts';
import { context, creation, row, runA, runB, started } from './samples.kit.ts';

const thought = (fields: object, metadata: object = {}) =>
  row('agent.reasoned', { task: JSON.stringify({ kind: 'thought-stream', content: 'hm', ...fields, metadata }) });

export function contextRowsContract(open: Open<'log'>): void {
  const store = eachStore(open);
  const log = () => store().log;
  const pages = async (limit: number, isForTasks: boolean): Promise<readonly Row[]> => {
    const all: Row[] = [];
    for (;;) {
      const page = await log().read({ contextId: context, afterCursor: all.at(-1)?.cursor ?? 0, limit, isForTasks });
      if (page.length === 0) return all;
      all.push(...page);
    }
  };

  describe('the pages of a context', () => {
    it('hold every row once and in order, wherever they end and however its runs take turns', async () => {
      const runs = [runA, runB, 'run_c' as RunId];
      for (const runId of runs) await log().append(creation(runId));
      for (let turn = 0; turn < 40; turn += 1) {
        const runId = present(runs[((turn * 7) % 11) % 3]);
        await log().append({ runId, rows: [row('a'), row('b', { audience: 'operator' })] });
        const elsewhere = `run_else${turn}` as RunId;
        const create = { tenant: 't', contextId: `ctx_else${turn}` as ContextId, originRunId: elsewhere };
        await log().append(creation(elsewhere, { create }));
      }
      const all = await pages(1_000, false);
      expect(all.length).toBe(83);
      expect(all.map(({ cursor }) => cursor)).toEqual(all.map(({ cursor }) => cursor).toSorted((a, b) => a - b));
      for (const runId of runs) {
        const own = all.filter((one) => one.runId === runId);
        expect(own).toEqual(await log().read({ runId, after: -1, limit: 1_000 }));
      }
      for (const limit of [1, 3, 7]) expect(await pages(limit, false)).toEqual(all);
      const afterNothing = present(all.at(20)).cursor + 1;
      const rest = all.filter(({ cursor }) => cursor > afterNothing);
      expect(await log().read({ contextId: context, afterCursor: afterNothing, limit: 99 })).toEqual(rest);
    });

    it('for the task view hold every face, and rows without one so that they move on', async () => {
      const hidden = Array.from({ length: 9 }, () => row('agent.reasoning.delta'));
      const face = '{"kind":"task-status","status":"working"}';
      await log().append(creation(runA, { rows: [started(), ...hidden, row('x', { task: face })] }));
      const found = await pages(2, true);
      expect(found.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(found.map(({ task }) => task).filter((task) => task !== null)).toEqual([face]);
      const large = JSON.stringify({ kind: 'content-complete', content: 'é'.repeat(20_000) });
      await log().append({ runId: runA, rows: [row('y', { payload: large, task: large })] });
      expect((await pages(100, true)).at(-1)?.task).toBe(large);
    });
  });

  describe('the columns of a task face', () => {
    it('say its kind, who may see it, and what a thought is, without its body', async () => {
      const rows = [
        started(),
        thought({ thoughtType: 'planning', verbosity: 'brief' }, { confidence: 0.6666 }),
        thought({ thoughtType: 'musing', verbosity: 'detailed', visibility: 'operator' }),
        row('x', { task: '{"kind":"internal:checkpoint","iteration":1}' }),
        row('y', { task: '{"metadata":{},"kind":"task-complete"}' }),
        row('z', { task: '{"kind":"of-the-future"}' }),
      ];
      await log().append(creation(runA, { rows }));
      const below = `${runA}.0` as RunId;
      const create = { tenant: 't', contextId: context, originRunId: below, parentRunId: runA };
      await log().append(creation(below, { create, rows: [row('s', { task: '{"kind":"error","code":"c"}' })] }));
      const found = (await log().read({ contextId: context, afterCursor: 0, limit: 99 })).map(({ face }) => [
        kindOf(face),
        isForOperators(face),
        isOfSubtask(face),
        thoughtTypeOf(face),
        verbosityOf(face),
        confidenceOf(face),
      ]);
      expect(found).toEqual([
        [null, false, false, null, null, null],
        ['thought-stream', false, false, 'planning', 'brief', 667],
        ['thought-stream', true, false, 'reasoning', 'detailed', null],
        ['internal:checkpoint', true, false, null, null, null],
        ['task-complete', false, false, null, null, null],
        [null, false, false, null, null, null],
        ['error', false, true, null, null, null],
      ]);
    });
  });
}
