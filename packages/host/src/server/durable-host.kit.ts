/** A whole host over a database that outlives it, so that tests can stop and restart it; not shipped. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContextId, Json, JsonObject, RunId } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { rowsOf } from '../../test/kit/rows-of.ts';
import { hasEnded, openInterrupts, untilCommit } from '../../test/kit/until-commit.ts';
import type { Row } from '../log/ports/rows.ts';
import type { Store } from '../log/ports/store.ts';
import { openSqliteStore } from '../log/sqlite/folder/open.ts';
import { createHostOver, type Host, type HostOptions } from './create-host.ts';

interface Beginning {
  /** Default: the tenant of a host without keys. */
  readonly tenant?: string;
  readonly inputs?: JsonObject;
  readonly contextId?: ContextId;
}

export class DurableHost {
  readonly #folder: string;
  #options: HostOptions;
  #store!: Store;
  #host: Host | null = null;

  private constructor(folder: string, options: HostOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  static async open(options: HostOptions): Promise<DurableHost> {
    const durable = new DurableHost(await mkdtemp(join(tmpdir(), 'cairn-durable-')), options);
    onTestFinished(async () => {
      await durable.#host?.close();
      await rm(durable.#folder, { recursive: true, force: true });
    });
    await durable.#begin();
    return durable;
  }

  get engine(): Host['engine'] {
    return (this.#host as Host).engine;
  }

  get folder(): string {
    return this.#folder;
  }

  get store(): Store {
    return this.#store;
  }

  /** Stops the host and starts another on the same database, perhaps with other options. */
  async restart(changes: HostOptions = {}): Promise<void> {
    await this.stop();
    this.#options = { ...this.#options, ...changes };
    await this.#begin();
  }

  async stop(): Promise<void> {
    await this.#host?.close();
    this.#host = null;
  }

  async #begin(): Promise<void> {
    const { config, ...options } = this.#options;
    this.#store = await openSqliteStore({ folder: this.#folder, onFault: () => undefined });
    this.#host = await createHostOver(this.#store, {
      http: false,
      report: () => undefined,
      ...options,
      config: { ...config, data: this.#folder },
    });
  }

  async start(workflowId: string, { tenant = 'local', inputs = {}, contextId }: Beginning = {}): Promise<RunId> {
    const joined = contextId === undefined ? {} : { contextId };
    return (await this.engine.start({ tenant, workflowId, inputs, options: {}, ...joined })).runId;
  }

  /** Starts a run and waits for its end. */
  async ran(workflowId: string, beginning: Beginning = {}): Promise<RunId> {
    const runId = await this.start(workflowId, beginning);
    await this.ended(runId);
    return runId;
  }

  contextOf = async (runId: RunId): Promise<ContextId> =>
    (await this.store.log.head(runId))?.record.contextId as ContextId;

  answer(runId: RunId, nodeId: string, tenant = 'local', value: Json = { action: 'accept' }) {
    return this.engine.answer({ tenant, runId, nodeId, value });
  }

  ended = (runId: RunId) => this.until(() => hasEnded(this.store, runId));

  /** Waits until the run has this many open interrupts. */
  asks = (runId: RunId, count = 1) => this.until(async () => (await openInterrupts(this.store, runId)).length >= count);

  until = (isSo: () => Promise<boolean>): Promise<void> => untilCommit(this.store, isSo);

  rows = (runId: RunId): Promise<readonly Row[]> => rowsOf(this.store, runId);

  async payloads(runId: RunId, type: string): Promise<readonly JsonObject[]> {
    const rows = await this.rows(runId);
    return rows.filter((row) => row.type === type).map((row) => JSON.parse(row.payload) as JsonObject);
  }
}
