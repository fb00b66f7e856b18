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
import { asked, context, creation, resolved, row, runA, runB, started } from './samples.kit.ts';

const thought = (fields: object, metadata: object = {}) =>
  row('agent.reasoned', { task: JSON.stringify({ kind: 'thought-stream', content: 'hm', ...fields, metadata }) });

export function contextContract(open: Open<'log'>): void {
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

export function contextRunsContract(open: Open<'log' | 'runIndex'>): void {
  const store = eachStore(open);

  it('lists the runs of a context page by page, all, open, without a parent, and below one', async () => {
    const { log, runIndex } = store();
    expect(await log.contextHead(context)).toBe(0);
    const ids = Array.from({ length: 5 }, (_, i) => `run_${i}` as RunId);
    for (const runId of ids) await log.append(creation(runId));
    const below = `${ids[0]}.0` as RunId;
    const create = { tenant: 't', contextId: context, originRunId: below, parentRunId: ids[0] };
    await log.append(creation(below, { create }));
    await log.append({ runId: present(ids[3]), rows: [row('run.completed')] });
    const { cursor } = await log.append({ runId: present(ids[1]), rows: [row('a')] });
    await log.append(
      creation('run_x' as RunId, {
        create: { tenant: 't', contextId: 'ctx_two' as ContextId, originRunId: 'run_x' as RunId },
      }),
    );
    expect(await log.contextHead(context)).toBe(cursor);
    const listed = async (query: object) => {
      const found: string[] = [];
      let next: string | undefined;
      do {
        const page = await runIndex.ofContext({ contextId: context, limit: 2, cursor: next, ...query });
        found.push(...page.runs.map(({ runId }) => runId));
        next = page.nextCursor ?? undefined;
      } while (next !== undefined);
      return found;
    };
    expect(await listed({})).toEqual([below, 'run_4', 'run_3', 'run_2', 'run_1', 'run_0']);
    expect(await listed({ isOpen: true })).toEqual([below, 'run_4', 'run_2', 'run_1', 'run_0']);
    expect(await listed({ isOpen: true, parentRunId: null })).toEqual(['run_4', 'run_2', 'run_1', 'run_0']);
    expect(await listed({ parentRunId: ids[0] })).toEqual([below]);
    const oldest = async (where = context) => (await runIndex.oldestOpen(where))?.runId ?? null;
    expect(await oldest()).toBe('run_0');
    await log.append({ runId: present(ids[0]), rows: [row('run.completed')] });
    expect([await oldest(), await oldest('ctx_none' as ContextId)]).toEqual(['run_1', null]);
  });

  it('finds a question by its id, open ones first, and none of another context', async () => {
    const { log, runIndex } = store();
    await log.append(creation(runA, { rows: [started(), asked('int_a'), resolved('int_a'), asked('gate')] }));
    await log.append({ runId: runA, rows: [resolved('gate')] });
    await log.append(creation(runB, { rows: [started(), asked('gate')] }));
    const named = async (id: string, where = context) =>
      (await runIndex.asked(where, id)).map(({ runId, open }) => [runId, open]);
    expect(await named('int_a')).toEqual([[runA, false]]);
    expect(await named('gate')).toEqual([
      [runB, true],
      [runA, false],
    ]);
    expect(await named('gate', 'ctx_two' as ContextId)).toEqual([]);
    expect(await named('nothing')).toEqual([]);
  });
}
