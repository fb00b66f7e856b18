/** A whole host over a real database, with a virtual clock and counted ids, so that a story is the same each time. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject, RunId, RunOptions, RunSnapshot } from '@cairn/protocol';
import type { ForkRun, RunForked } from '../../packages/host/src/engine/engine.ts';
import type { Row } from '../../packages/host/src/log/ports/rows.ts';
import type { Store } from '../../packages/host/src/log/ports/store.ts';
import { openSqliteStore } from '../../packages/host/src/log/sqlite/folder/open.ts';
import { scopes } from '../../packages/host/src/server/access/auth.ts';
import { createHostOver, type Host, type HostOptions } from '../../packages/host/src/server/create-host.ts';
import type { App } from '../../packages/host/src/server/define-app.ts';
import { countedIds } from '../../packages/host/test/kit/counted-ids.ts';
import { rowsOf } from '../../packages/host/test/kit/rows-of.ts';
import { hasEnded, openInterrupts, untilCommit } from '../../packages/host/test/kit/until-commit.ts';
import { VirtualClock } from '../../packages/host/test/kit/virtual-clock.ts';

const tenant = 'golden';
export const goldenKey = 'a-key-of-golden-runs';

/** Between two actions of people. */
const A_WHILE_MS = 1_000;

export interface GoldenApp extends Partial<App> {
  readonly config?: HostOptions['config'];
  /** Default false. */
  readonly http?: boolean;
  /** Of every run. */
  readonly callbackUrl?: string;
  /** Opens the store that belongs to a folder. Default: the database in it. */
  readonly openStore?: (folder: string) => Promise<Store>;
}

const inFolder = (folder: string): Promise<Store> => openSqliteStore({ folder });

export class GoldenHost {
  readonly folder: string;
  readonly clock = new VirtualClock(Date.UTC(2026, 0, 5, 9));
  readonly #uniqueId: () => string;
  readonly #app: GoldenApp;
  #store!: Store;
  #host: Host | null = null;

  private constructor(name: string, folder: string, app: GoldenApp) {
    this.folder = folder;
    this.#app = app;
    this.#uniqueId = countedIds(`${name}-`);
  }

  /** The name makes the ids of this host unlike those of others. */
  static async open(name: string, app: GoldenApp): Promise<GoldenHost> {
    const host = new GoldenHost(name, await mkdtemp(join(tmpdir(), 'cairn-golden-')), app);
    await host.#begin();
    return host;
  }

  get engine(): Host['engine'] {
    if (this.#host === null) throw new Error('The host is stopped.');
    return this.#host.engine;
  }

  get url(): string {
    return this.#host?.url ?? '';
  }

  get store(): Store {
    return this.#store;
  }

  async #begin(): Promise<void> {
    const { config, callbackUrl: _, openStore = inFolder, ...app } = this.#app;
    this.#store = await openStore(this.folder);
    this.#host = await createHostOver(this.#store, {
      http: false,
      report: () => undefined,
      ...app,
      config: {
        hostId: 'golden',
        port: 0,
        keys: [{ key: goldenKey, tenant, scopes: [...scopes] }],
        ...config,
        data: this.folder,
      },
      clock: { now: () => this.clock.now(), wakeAt: (at, wake) => this.clock.wakeAt(at, wake) },
      uniqueId: this.#uniqueId,
    });
  }

  async stop(): Promise<void> {
    await this.#host?.close();
    this.#host = null;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#begin();
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Time goes by; timers that fall due fire. */
  pass(ms = A_WHILE_MS): void {
    this.clock.advance(ms);
  }

  async start(workflowId: string, inputs: JsonObject = {}, options: RunOptions = {}): Promise<RunId> {
    const { callbackUrl } = this.#app;
    const request = { tenant, principal: 'ann', workflowId, inputs, options, callbackUrl };
    const started = await this.engine.start(request);
    return started.runId;
  }

  /** Waits for the question of a node, and answers it a while later. */
  async answer(runId: RunId, nodeId: string, value: Json, principal = 'ann'): Promise<void> {
    await this.until(async () =>
      (await openInterrupts(this.store, runId)).some((interrupt) => interrupt.nodeId === nodeId),
    );
    this.pass();
    await this.engine.answer({ tenant, principal, runId, nodeId, value });
  }

  cancel = (runId: RunId, reason: string) => this.engine.cancel({ tenant, principal: 'ann', runId, reason });

  pause = (runId: RunId, drainPolicy: 'immediate' | 'drain-current-node') =>
    this.engine.pause({ tenant, principal: 'ann', runId, drainPolicy });

  resume = (runId: RunId) => this.engine.resume({ tenant, principal: 'ann', runId });

  fork = (fork: Omit<ForkRun, 'tenant'>): Promise<RunForked> => this.engine.fork({ tenant, principal: 'ann', ...fork });

  retry = (runId: RunId): Promise<RunForked> => this.engine.retry({ tenant, principal: 'ann', runId });

  snapshot = (runId: RunId): Promise<RunSnapshot> => this.engine.snapshot(tenant, runId);

  rows = (runId: RunId): Promise<readonly Row[]> => rowsOf(this.store, runId);

  /** Waits until the run has so many rows of a type. Returns the last of them. */
  async row(runId: RunId, type: string, count = 1): Promise<Row> {
    let found: Row | undefined;
    await this.until(async () => {
      found = (await this.rows(runId)).filter((row) => row.type === type)[count - 1];
      return found !== undefined;
    });
    if (found === undefined) throw new Error(`Run ${runId} has no ${type}.`);
    return found;
  }

  ended = (runId: RunId): Promise<void> => this.until(() => hasEnded(this.store, runId));

  /** Asks after each commit. */
  until = (isSo: () => Promise<boolean>): Promise<void> => untilCommit(this.store, isSo);
}
