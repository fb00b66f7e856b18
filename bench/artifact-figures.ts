/** Figures for artifacts: one of a gigabyte is written and read in pieces, at flat memory. */
import { createHash } from 'node:crypto';
import type { ContextId, RunId } from '@cairn/protocol';
import type { ArtifactCall } from '../packages/host/src/agents/tools/artifact-port.ts';
import type { NewRow } from '../packages/host/src/log/ports/rows.ts';
import type { Store } from '../packages/host/src/log/ports/store.ts';
import { filePieces } from '../packages/host/src/server/artifacts/artifact-pieces.ts';
import { createArtifactPort } from '../packages/host/src/server/artifacts/artifact-port.ts';
import type { Figure, Sample } from './figure.ts';
import { openMeasuredStore } from './measured-store.ts';
import { freshFolder, type Group, type Plan } from './plan.ts';

const WRITE_BYTES = 65_536;
const MIB = 1_048_576;
const TENANT = 'bench';
const CONTEXT = 'ctx_artifact' as ContextId;

export const artifactGroup: Group = {
  name: 'artifacts',
  about: 'an artifact of 1 GB (32 MB in quick mode), written and read in pieces',
  figures: ['artifact-write', 'artifact-read', 'artifact-memory'],
  run: artifactFigures,
};

async function artifactFigures(plan: Plan): Promise<readonly Figure[]> {
  const bytes = plan.quick ? 32 * MIB : 1_024 * MIB;
  const rounds: Measured[] = [];
  for (let round = 0; round < (plan.quick ? plan.rounds : 1); round++) rounds.push(await measured(plan, round, bytes));
  const perSecond = (ms: number): number => bytes / MIB / (ms / 1_000);
  const figure = (name: string, unit: string, samples: readonly Sample[]): Omit<Figure, 'bar'> => ({
    name: `artifact-${name}`,
    unit,
    limitName: 'none',
    samples,
  });
  return [
    {
      ...figure(
        'write',
        'MB/s',
        rounds.map(({ writeMs }) => ({ value: perSecond(writeMs), limit: 0 })),
      ),
      bar: { of: 'value', is: '>=', amount: 10 },
    },
    {
      ...figure(
        'read',
        'MB/s',
        rounds.map(({ readMs }) => ({ value: perSecond(readMs), limit: 0 })),
      ),
      bar: { of: 'value', is: '>=', amount: 50 },
    },
    {
      ...figure(
        'memory',
        'MB',
        rounds.map(({ grownBytes }) => ({ value: grownBytes / MIB, limit: bytes / MIB })),
      ),
      limitName: 'the size of the artifact',
      bar: { of: 'value', is: '<', amount: 64 },
    },
  ];
}

interface Measured {
  readonly writeMs: number;
  readonly readMs: number;
  /** The most that the buffers of this process grew. */
  readonly grownBytes: number;
}

async function measured(plan: Plan, round: number, bytes: number): Promise<Measured> {
  const store = await openMeasuredStore(freshFolder(plan, `artifacts-${round}`));
  try {
    const runId = `run_artifact_${round}` as RunId;
    const memory = new Watermark();
    const begun = performance.now();
    const sent = await written(store, { runId, bytes, memory });
    const writeMs = performance.now() - begun;
    const version = await store.artifacts.get(CONTEXT, 'dump.bin');
    if (version?.size !== bytes) throw new Error(`The artifact has ${version?.size} bytes of ${bytes}.`);
    const hash = createHash('sha256');
    const reading = performance.now();
    for await (const piece of filePieces(version, { store, tenant: TENANT }, { start: 0, end: bytes })) {
      hash.update(piece);
      memory.look();
    }
    const readMs = performance.now() - reading;
    if (hash.digest('hex') !== sent)
      throw new Error('The artifact was read with other bytes than it was written with.');
    return { writeMs, readMs, grownBytes: memory.grown };
  } finally {
    await store.close();
  }
}

/** The rows go to the log as a tool's rows do, one append after the other. */
async function written(
  store: Store,
  { runId, bytes, memory }: { readonly runId: RunId; readonly bytes: number; readonly memory: Watermark },
): Promise<string> {
  const row = (type: string, payload: object): NewRow => ({
    at: Date.now(),
    type,
    audience: 'client',
    payload: JSON.stringify(payload),
    task: null,
  });
  const create = { tenant: TENANT, contextId: CONTEXT, originRunId: runId };
  const started = row('run.started', { workflowId: 'w', definitionHash: 'd', owner: { tenant: TENANT } });
  await store.log.append({ runId, create, rows: [started] });
  const call: ArtifactCall = {
    runId,
    contextId: CONTEXT,
    tenant: TENANT,
    nodeId: 'n',
    callId: 'c',
    agentId: 'a',
    redactor: null,
    record: async (rows) => {
      await store.log.append({ runId, rows: rows.map(({ type, payload }) => row(type, payload)) });
    },
  };
  const port = createArtifactPort({ store, now: Date.now, life: 'bench', maxTenantBytes: Number.MAX_SAFE_INTEGER });
  const file = port.file(call, 'dump.bin', {});
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(WRITE_BYTES);
  for (let at = 0; at < bytes; at += WRITE_BYTES) {
    // Different bytes in every piece, or equal blobs would be stored once.
    for (let i = 0; i < WRITE_BYTES; i += 4_096) chunk.writeUInt32LE((at + i) % 4_294_967_291, i);
    hash.update(chunk);
    await file.write(chunk);
    memory.look();
  }
  await file.close();
  return hash.digest('hex');
}

/** The highest use of memory for buffers and values since it was made. */
class Watermark {
  readonly #first = used();
  #most = this.#first;
  #calls = 0;

  /** Looks at every 16th call: a look takes longer than a piece. */
  look(): void {
    this.#calls += 1;
    if (this.#calls % 16 !== 0) return;
    this.#most = Math.max(this.#most, used());
  }

  get grown(): number {
    return this.#most - this.#first;
  }
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
