/** The memory store and SQLite give the same answers about what agents remember, whatever was written, dropped and asked. */
import type { ContextId, RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../in-memory/store.ts';
import { DROPPED, KEPT } from '../memory-changes.ts';
import { folders, open } from '../sqlite/folder/folders.kit.ts';
import type { Append } from './event-log.ts';
import type { MemoryRecordQuery } from './memories.ts';
import type { NewRow } from './rows.ts';
import type { Store } from './store.ts';

const runs = ['run_a', 'run_b', 'run_c', 'run_d'] as const;
/** Which of them another one started. */
const parents: Readonly<Record<string, string>> = { run_b: 'run_a', run_c: 'run_b' };
const words = ['tea', 'Teas', 'oslo', 'OSLO', 'berlin', '東京', '"', 'or', '2xtea'];

const content = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((found) => found.join(' '));
const where = { tenant: fc.constantFrom('t', 'u'), memoryRef: fc.constantFrom('notes', 'else') };
const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const turn = fc.constantFrom('t1', 't2', 't3');

const change = fc.record({
  run: fc.constantFrom(...runs),
  memoryRef: where.memoryRef,
  id,
  turn,
  content,
  tags: fc.subarray(['x', 'y']),
  expiresAt: fc.option(fc.constantFrom(2_000, 9_000), { nil: undefined }),
  does: fc.constantFrom('keep', 'keep', 'drop', 'end'),
});

const question = fc.record({
  ...where,
  now: fc.constantFrom(1_000, 5_000),
  limit: fc.constantFrom(1, 2, 100),
  tag: fc.option(fc.constantFrom('x', 'z'), { nil: undefined }),
  asOf: fc.option(
    fc.record({
      runId: fc.constantFrom(...runs, 'run_no').map((run) => run as RunId),
      beforeSeq: fc.nat(8),
      turn: fc.option(turn, { nil: undefined }),
    }),
    { nil: undefined },
  ),
  id,
  text: content,
});

type Change = typeof change extends fc.Arbitrary<infer Of> ? Of : never;

const row = (type: string, payload: object): NewRow => ({
  at: 1_000,
  type,
  audience: 'operator',
  payload: JSON.stringify(payload),
  task: null,
});

/** Names of one case: all cases share two stores, since to open one costs more than all the rest. */
type Named = (name: string) => string;

function appendOf(
  { run, memoryRef, id: memoryId, turn: of, does, ...entry }: Change,
  isNew: boolean,
  named: Named,
): Append {
  const what = { memoryRef, memoryId, turn: of };
  const expiresAt = entry.expiresAt === undefined ? {} : { expiresAt: new Date(entry.expiresAt).toISOString() };
  const kept = row(KEPT, { ...what, content: entry.content, tags: entry.tags, ...expiresAt });
  const runId = named(run) as RunId;
  const rows = [does === 'end' ? row('run.completed', {}) : does === 'drop' ? row(DROPPED, what) : kept];
  if (!isNew) return { runId, rows };
  const tenant = named(run === 'run_d' ? 'u' : 't');
  const parent = parents[run];
  const parentRunId = parent === undefined ? undefined : (named(parent) as RunId);
  const create = { tenant, contextId: `ctx_${runId}` as ContextId, originRunId: runId, parentRunId };
  return { runId, create, rows: [row('run.started', { workflowId: 'w', owner: { tenant } }), ...rows] };
}

async function write(store: Store, changes: readonly Change[], named: Named): Promise<void> {
  const begun = new Set<string>();
  const ended = new Set<string>();
  for (const one of changes) {
    if (ended.has(one.run)) continue;
    await store.log.append(appendOf(one, !begun.has(one.run), named));
    begun.add(one.run);
    if (one.does === 'end') ended.add(one.run);
  }
}

const { fresh } = folders();

test('two stores that were told the same know the same', async () => {
  const cases = fc.tuple(fc.array(change, { maxLength: 16 }), fc.array(question, { minLength: 6, maxLength: 12 }));
  const [plain, sqlite] = [inMemoryStore(), await open(fresh())];
  let count = 0;
  const property = fc.asyncProperty(cases, async ([changes, questions]) => {
    count += 1;
    const named = (name: string) => `${name}_${count}`;
    for (const store of [plain, sqlite]) await write(store, changes, named);
    for (const { id: asked, text, tag, limit, ...of } of questions) {
      const asOf = of.asOf === undefined ? undefined : { ...of.asOf, runId: named(of.asOf.runId) as RunId };
      const seen = { ...of, tenant: named(of.tenant), asOf };
      const query = { ...seen, tag, limit };
      const answers = ({ memories }: Store) =>
        Promise.all([memories.list(query), memories.get(seen, asked), found(memories, query, text)]);
      expect(await answers(sqlite)).toEqual(await answers(plain));
    }
  });
  try {
    await fc.assert(property, { numRuns: 300 });
  } finally {
    await plain.close();
    await sqlite.close();
  }
});

/** Which are found is the same; in which order near matches come is each store's own. */
const found = async (memories: Store['memories'], query: MemoryRecordQuery, text: string) =>
  (await memories.search({ ...query, limit: 100 }, text)).map((entry) => entry.id).sort();
