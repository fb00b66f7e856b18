/** Whatever is written, the index in the database says what the fold of the rows says. */
import type { ContextId, RunId } from '@cairn/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inMemoryStore } from '../../in-memory/store.ts';
import type { NewRow } from '../../ports/rows.ts';
import { creation, row } from '../../ports/samples.kit.ts';
import type { Store } from '../../ports/store.ts';
import { folders, open } from '../folder/folders.kit.ts';

const { fresh } = folders();
const artifactIds = ['a', 'b', '__proto__'];

interface Write {
  readonly run: number;
  readonly artifact: number;
  readonly version: number;
  readonly index: number;
  readonly complete: boolean;
  readonly kind: 'chunk' | 'rows' | 'record' | 'end';
}

const write: fc.Arbitrary<Write> = fc.record({
  run: fc.integer({ min: 0, max: 2 }),
  artifact: fc.integer({ min: 0, max: 2 }),
  version: fc.integer({ min: 1, max: 3 }),
  index: fc.integer({ min: 0, max: 2 }),
  complete: fc.boolean(),
  kind: fc.constantFrom('chunk', 'chunk', 'chunk', 'rows', 'record', 'end'),
});

function rowOf({ artifact, version, index, complete, kind }: Write): NewRow {
  const artifactId = artifactIds[artifact] ?? '';
  if (kind === 'end') return row('run.completed');
  if (kind === 'record') {
    const payload = { artifactId, artifactType: 'data', version: String(version), data: { index } };
    return row('artifact.created', { payload: JSON.stringify(payload) });
  }
  const content = kind === 'chunk' ? { data: 'xy', bytes: 2 } : { rows: [{}], count: 1 };
  const payload = { artifactId, version, index, complete, ...content };
  return row(`cairn.artifact.${kind}`, { payload: JSON.stringify(payload) });
}

/** Runs and versions in the order in which claims would give them: a version is begun once, after the ones before. */
function legal(writes: readonly Write[]): readonly Write[] {
  const begun = new Map<number, number>();
  const owner = new Map<number, number>();
  const ended = new Set<number>();
  return writes.filter((one) => {
    if (ended.has(one.run)) return false;
    if (one.kind === 'end') {
      ended.add(one.run);
      return true;
    }
    const index = one.kind === 'record' ? 0 : one.index;
    if (index > 0) return true;
    const held = owner.get(one.artifact);
    if (one.version !== (begun.get(one.artifact) ?? 0) + 1) return false;
    if (held !== undefined && held !== one.run && !ended.has(held)) return false;
    begun.set(one.artifact, one.version);
    if (one.complete || one.kind === 'record') owner.delete(one.artifact);
    else owner.set(one.artifact, one.run);
    return true;
  });
}

const codeOf = (error: { readonly code?: string }): string => error.code ?? 'unknown';

async function shown(store: Store, writes: readonly Write[], context: ContextId): Promise<unknown> {
  const runs = [0, 1, 2].map((n) => `run_${context}_${n}` as RunId);
  for (const runId of runs) {
    await store.log.append(creation(runId, { create: { tenant: 't', contextId: context, originRunId: runId } }));
  }
  const refused: (string | null)[] = [];
  for (const one of writes) {
    const runId = runs[one.run];
    if (runId !== undefined)
      refused.push(await store.log.append({ runId, rows: [rowOf(one)] }).then(() => null, codeOf));
  }
  const versions = [];
  for (const id of artifactIds)
    for (const version of [undefined, 1, 2, 3]) versions.push(await store.artifacts.get(context, id, version));
  return [refused, await store.artifacts.list(context, { limit: 9 }), versions];
}

test('the index follows from the rows, in every store', async () => {
  const memory = inMemoryStore();
  const sqlite = await open(fresh());
  let runs = 0;
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 30 }), async (generated) => {
        runs += 1;
        const context = `ctx_${runs}` as ContextId;
        const writes = legal(generated);
        expect(await shown(sqlite, writes, context)).toEqual(await shown(memory, writes, context));
      }),
      { numRuns: 40 },
    );
    expect(await sqlite.runIndex.rebuild()).toMatchObject({ repaired: 0 });
  } finally {
    await sqlite.close();
    await memory.close();
  }
});
