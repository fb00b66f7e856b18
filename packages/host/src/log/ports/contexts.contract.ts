/** What every store promises of contexts: whose they are, how far they go, and the runs and questions in them. */
import type { ContextId, RunId } from '@cairn/protocol';
import { expect, it } from 'vitest';
import { present } from '../../../test/kit/present.ts';
import { eachStore, type Open } from './contract.kit.ts';
import { asked, context, creation, resolved, row, runA, runB, started } from './samples.kit.ts';

export function contextsContract(open: Open<'log' | 'contexts'>): void {
  const store = eachStore(open);

  it('says whose a context is, and nothing of one that no run is in', async () => {
    await store().log.append(creation(runA));
    expect(await store().contexts.tenant(context)).toBe('t');
    expect(await store().contexts.tenant('ctx_none' as ContextId)).toBeNull();
  });

  it('lets one of two tenants that name the same new context have it, also when both come at once', async () => {
    const begin = (runId: RunId, tenant: string) =>
      store().log.append(
        creation(runId, { create: { tenant, contextId: context, originRunId: runId }, isNamedContext: true }),
      );
    const results = await Promise.allSettled([begin(runA, 't'), begin(runB, 'u'), begin('run_c' as RunId, 't')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'not_found' } });
    expect(await store().contexts.tenant(context)).toBe('t');
    expect(await store().log.head(runB)).toBeNull();
  });

  it('lists the runs of a context page by page, all, open, without a parent, and below one', async () => {
    const { log, contexts } = store();
    expect(await contexts.head(context)).toBe(0);
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
    expect(await contexts.head(context)).toBe(cursor);
    const listed = async (query: object) => {
      const found: string[] = [];
      let next: string | undefined;
      do {
        const page = await contexts.runs({ contextId: context, limit: 2, cursor: next, ...query });
        found.push(...page.runs.map(({ runId }) => runId));
        next = page.nextCursor ?? undefined;
      } while (next !== undefined);
      return found;
    };
    expect(await listed({})).toEqual([below, 'run_4', 'run_3', 'run_2', 'run_1', 'run_0']);
    expect(await listed({ isOpen: true })).toEqual([below, 'run_4', 'run_2', 'run_1', 'run_0']);
    expect(await listed({ isOpen: true, parentRunId: null })).toEqual(['run_4', 'run_2', 'run_1', 'run_0']);
    expect(await listed({ parentRunId: ids[0] })).toEqual([below]);
    const oldest = async (where = context) => (await contexts.oldestOpen(where))?.runId ?? null;
    expect(await oldest()).toBe('run_0');
    await log.append({ runId: present(ids[0]), rows: [row('run.completed')] });
    expect([await oldest(), await oldest('ctx_none' as ContextId)]).toEqual(['run_1', null]);
  });

  it('finds a question by its id, open ones first, and none of another context', async () => {
    const { log, contexts } = store();
    await log.append(creation(runA, { rows: [started(), asked('int_a'), resolved('int_a'), asked('gate')] }));
    await log.append({ runId: runA, rows: [resolved('gate')] });
    await log.append(creation(runB, { rows: [started(), asked('gate')] }));
    const named = async (id: string, where = context) =>
      (await contexts.interrupts(where, id)).map(({ runId, open }) => [runId, open]);
    expect(await named('int_a')).toEqual([[runA, false]]);
    expect(await named('gate')).toEqual([
      [runB, true],
      [runA, false],
    ]);
    expect(await named('gate', 'ctx_two' as ContextId)).toEqual([]);
    expect(await named('nothing')).toEqual([]);
  });
}
