/** A real host over SQLite with one waiting run, to which a test writes the rows it wants streamed. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContextId, RunId } from '@cairn/protocol';
import { defineWorkflow } from '../../packages/host/src/engine/workflow/define-workflow.ts';
import type { NewRow } from '../../packages/host/src/log/ports/rows.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { openSqliteStore } from '../../packages/host/src/log/sqlite/folder/open.ts';
import { createHostOver, type Host } from '../../packages/host/src/server/create-host.ts';
import { present } from '../../packages/host/test/kit/present.ts';

export const KEY = 'streams-D8vYk3HsZ6nQw1EaJ9u';

const waiting = defineWorkflow({
  id: 'waiting',
  version: '1',
  nodes: { gate: { type: 'core.approvalGate', config: { title: 'Go on?' } } },
});

interface WaitingRun {
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly last: number;
  readonly cursor: number;
}

export class StreamHost implements AsyncDisposable {
  readonly #host: Host;
  readonly #store: Store;
  readonly #folder: string;
  readonly runId: RunId;
  readonly contextId: ContextId;
  readonly port: number;
  /** seq of the last row of the run, and its cursor in the context. */
  last: number;
  cursor: number;

  private constructor(host: Host, store: Store, folder: string, run: WaitingRun) {
    this.#host = host;
    this.#store = store;
    this.#folder = folder;
    this.runId = run.runId;
    this.contextId = run.contextId;
    this.last = run.last;
    this.cursor = run.cursor;
    this.port = Number(new URL(present(host.url)).port);
  }

  static async open(): Promise<StreamHost> {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-streams-'));
    const fault = (error: unknown) => {
      throw error;
    };
    const store = await openSqliteStore({ folder, onFault: fault });
    const host = await createHostOver(store, {
      workflows: [waiting],
      config: { port: 0, keys: [{ key: KEY, tenant: 't' }] },
      report: ({ level, event, error }) => level === 'error' && fault(error ?? new Error(event)),
    });
    const started = await host.engine.start({ tenant: 't', workflowId: waiting.id, inputs: {}, options: {} });
    const last = present(await store.log.head(started.runId)).seq;
    const cursor = await store.contexts.head(started.contextId);
    return new StreamHost(host, store, folder, { ...started, last, cursor });
  }

  get url(): string {
    return present(this.#host.url);
  }

  /** Resolves once the rows are durable. */
  async write(rows: readonly NewRow[]): Promise<void> {
    const { seq, cursor } = await this.#store.log.append({ runId: this.runId, rows });
    this.last = Math.max(this.last, seq + rows.length - 1);
    this.cursor = Math.max(this.cursor, cursor);
  }

  /** Ends the run, and with it its streams. */
  finish(): Promise<void> {
    const task = '{"kind":"task-status","status":"canceled"}';
    return this.write([{ at: 0, type: 'run.cancelled', audience: 'client', payload: '{}', task }]);
  }

  /** The sequences visible to a client with this key: every row that is not an operator row. */
  async visible(shows: (type: string) => boolean = () => true): Promise<readonly number[]> {
    const seqs: number[] = [];
    for (let after = -1; ; ) {
      const rows = await this.#store.log.read({ runId: this.runId, after, limit: 1_000, audience: 'client' });
      if (rows.length === 0) return seqs;
      for (const { seq, type } of rows) if (shows(type)) seqs.push(seq);
      after = present(rows.at(-1)).seq;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
