/** Replays over HTTP of a run with everything: agents, tools, streams, questions, a supervisor, children, on SQLite. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContextId, RunEventDoc, RunId } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../../../test/kit/followed-run.ts';
import { present } from '../../../test/kit/present.ts';
import { rowsOf } from '../../../test/kit/rows-of.ts';
import { openSuiteStore } from '../../log/postgres/suite-store.kit.ts';
import { type Crew, openCrew, ranCrew, shown } from './replay-crew.kit.ts';

const folder = mkdtempSync(join(tmpdir(), 'cairn-replays-'));
let crew: Crew;
let runId: string;
let source: readonly RunEventDoc[];
/** The effects of the source itself. */
let before: readonly string[];

beforeAll(async () => {
  crew = await openCrew(await openSuiteStore(folder));
  runId = await ranCrew(crew);
  source = await eventsOf(crew.client, runId);
  before = [...crew.effects];
});

afterAll(async () => {
  await crew.close();
  rmSync(folder, { recursive: true, force: true });
});

async function replayed(of: string, fromSeq?: number): Promise<readonly RunEventDoc[]> {
  const fork = await crew.client.runs.fork(of, { mode: 'replay', ...(fromSeq === undefined ? {} : { fromSeq }) });
  return eventsOf(crew.client, fork.runId);
}

/** One event of each kind, and the last one. */
const kinds = (events: readonly RunEventDoc[]) =>
  events.filter(({ type }, i) => i === events.length - 1 || events.findIndex((one) => one.type === type) === i);

describe('a replay', () => {
  test('writes the events of its source, from an event of every kind on, and performs nothing', async () => {
    for (const { sequence, type } of kinds(source)) {
      expect(shown(await replayed(runId, sequence)), `from ${sequence} ${type}`).toEqual(shown(source));
    }
    expect(crew.effects).toEqual(before);
    expect(await crew.client.inbox.list()).toMatchObject({ entries: [] });
    const { runs } = await crew.client.runs.list({ limit: 100 });
    expect(runs.filter(({ parentRunId }) => parentRunId !== undefined)).toHaveLength(3);
  });

  test('of a replay, and a second one, are the same again', async () => {
    const first = await replayed(runId);
    const second = await replayed(String(first[0]?.runId), 40);
    expect(shown(first)).toEqual(shown(source));
    expect(shown(second)).toEqual(shown(source));
  });

  test('has the state of its source at the end: nodes, channels, variables', async () => {
    const [first] = await replayed(runId);
    const [own, recorded] = [await crew.client.runs.get(String(first?.runId)), await crew.client.runs.get(runId)];
    expect(JSON.stringify(own.channels)).toBe(JSON.stringify(recorded.channels));
    expect(own).toMatchObject({ status: 'completed', nodeStates: recorded.nodeStates, variables: recorded.variables });
  });

  test('of a branch writes the events of the branch, those with the name of its source and its own', async () => {
    const boss = source.find(({ type, nodeId }) => type === 'node.started' && nodeId === 'boss');
    const branch = await crew.client.runs.fork(runId, { mode: 'branch', fromSeq: boss?.sequence ?? 0 });
    const own = await eventsOf(crew.client, branch.runId);
    expect(own.at(-1)?.type).toBe('run.completed');
    before = [...crew.effects];
    const last = kinds(own).filter(({ sequence }) => sequence > (boss?.sequence ?? 0));
    for (const { sequence, type } of [...last, { sequence: 20, type: 'a refusal' }]) {
      expect(shown(await replayed(branch.runId, sequence)), `from ${sequence} ${type}`).toEqual(shown(own));
    }
    expect(crew.effects).toEqual(before);
  });

  test('of a child run writes the events of the child', async () => {
    for (const suffix of ['.0', '.1']) {
      const child = await eventsOf(crew.client, `${runId}${suffix}`);
      expect(shown(await replayed(`${runId}${suffix}`, 2))).toEqual(shown(child));
    }
    expect(crew.effects).toEqual(before);
  });

  test('goes on from wherever its host died, also in the middle of a decision', async () => {
    await crew.close();
    const store = await openSuiteStore(folder);
    const rows = await rowsOf(store, runId as RunId);
    const { tenant, originRunId } = present(await store.log.head(runId as RunId)).record;
    const cuts = rows.map(({ seq }) => seq).filter((seq) => seq > FROM && seq % 5 === 0);
    for (const cut of cuts) {
      const fork = { sourceRunId: runId as RunId, fromSeq: FROM, mode: 'replay' as const };
      const ids = { runId: `run_cut-${cut}` as RunId, contextId: `ctx_cut-${cut}` as ContextId };
      await store.log.fork({ ...ids, tenant, originRunId, fork, at: 0 });
      const written = rows.slice(FROM, cut).map(({ nodeId, cause, ...row }) => ({
        ...row,
        nodeId: nodeId ?? undefined,
        cause: cause ?? undefined,
      }));
      const claim = { owner: 'a host that died', now: 0, until: 1 };
      await store.log.append({ runId: ids.runId, at: FROM, rows: written, claim });
    }
    crew = await openCrew(store);
    for (const cut of cuts) {
      expect(shown(await eventsOf(crew.client, `run_cut-${cut}`)), `died before ${cut}`).toEqual(shown(source));
    }
    expect(crew.effects).toEqual([]);
  });
});

/** The cut of the replays whose host dies. */
const FROM = 5;
