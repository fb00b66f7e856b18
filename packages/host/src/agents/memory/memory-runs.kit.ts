/** Runs over a real store that write to its memories. For tests only; not shipped. */
import { hash } from 'node:crypto';
import { audienceOf, type ContextId, type JsonObject, type RunId } from '@cairn/protocol';
import { present } from '../../../test/kit/present.ts';
import type { Sha256 } from '../../engine/ports.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Row } from '../../log/ports/rows.ts';
import type { Store } from '../../log/ports/store.ts';
import { Memory, type MemoryCall } from './memory.ts';

export const sha256: Sha256 = (text, encoding) => hash('sha256', text, encoding);

/** Fields of the run's first row. */
interface Beginning {
  readonly tenant?: string;
  readonly agents?: JsonObject;
  readonly parentRunId?: RunId;
  readonly memoryScope?: JsonObject;
}

export class MemoryRuns {
  readonly store: Store;
  readonly memory: Memory;
  now = 1_000_000;

  constructor(store: Store = inMemoryStore()) {
    this.store = store;
    this.memory = new Memory({ memories: store.memories, now: () => this.now, sha256 });
  }

  async start(name: string, { tenant = 't', parentRunId, ...more }: Beginning = {}) {
    const runId = `run_${name}` as RunId;
    await this.store.log.append({
      runId,
      create: { tenant, contextId: `ctx_${tenant}` as ContextId, originRunId: runId, parentRunId },
      rows: [this.#row('run.started', { workflowId: 'w', owner: { tenant }, ...more })],
    });
    return runId;
  }

  end = (runId: RunId) => this.store.log.append({ runId, rows: [this.#row('run.completed', {})] });

  /** A call of a turn. Appends the row that requests it. */
  async call(
    runId: RunId,
    turn: number,
    number = 0,
    agentId = 'host:scribe',
  ): Promise<MemoryCall & { contextId: ContextId }> {
    const head = present(await this.store.log.head(runId));
    await this.store.log.append({ runId, rows: [this.#row('agent.toolCalled', {})] });
    const { tenant, contextId } = head.record;
    return {
      tenant,
      runId,
      contextId,
      nodeId: 'n',
      agentId,
      callId: `n#0.0/t${turn}.${number}`,
      turnId: `n#0.0/t${turn}`,
      requestedSeq: head.seq + 1,
      record: async (rows) => {
        await this.store.log.append({ runId, rows: rows.map(({ type, payload }) => this.#row(type, payload)) });
      },
    };
  }

  async rows(runId: RunId, type: string): Promise<readonly JsonObject[]> {
    const all: readonly Row[] = await this.store.log.read({ runId, after: -1, limit: 1_000 });
    return all.filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);
  }

  #row(type: string, payload: JsonObject) {
    return { at: this.now, type, audience: audienceOf(type), payload: JSON.stringify(payload), task: null };
  }
}
