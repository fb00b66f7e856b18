/**
 * Hosts that share one store in memory, as nodes of a cluster share a database; with CAIRN_SUITE_STORE=postgres each has its
 * own store on a database of a real server. Not shipped.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '@cairn/protocol';
import { onTestFinished } from 'vitest';
import { hasEnded, openInterrupts, untilCommit } from '../../../test/kit/until-commit.ts';
import { inMemoryStore } from '../../log/in-memory/store.ts';
import type { Store } from '../../log/ports/store.ts';
import { isShared, openSuiteStore } from '../../log/postgres/suite-store.kit.ts';
import { type Ask, askUrl, type Reply } from '../ask.kit.ts';
import { createHostOver, type Host, type HostOptions } from '../create-host.ts';
import { approval, noop } from '../sample-workflows.kit.ts';

export const key = 'key-of-ann-0123456789-abcdefgh';

export interface TestNode extends Host {
  ask(method: string, path: string, ask?: Ask): Promise<Reply>;
  /** The process stops without a word: whatever it asks the store from now on gets no answer. */
  die(): void;
}

export interface TestCluster {
  readonly store: Store;
  node(options?: HostOptions): Promise<TestNode>;
}

export async function cluster(config: HostOptions['config'] = {}): Promise<TestCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'cairn-nodes-'));
  const file = join(folder, 'master.key');
  await writeFile(file, randomBytes(32).toString('base64'), { mode: 0o600 });
  const store = await opened(folder, inMemoryStore());
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const settings = {
    port: 0,
    data: folder,
    hostId: 'cluster',
    masterKey: { file },
    leaseMs: 1_000,
    keys: [{ key, tenant: 't', principal: 'ann' }],
    ...config,
  };
  return {
    store,
    async node(options = {}) {
      const line = lineTo(await opened(folder, store));
      const workflows = [approval, noop, ...(options.workflows ?? [])];
      const host = await createHostOver(line.store, {
        report: () => undefined,
        ...options,
        workflows,
        config: settings,
      });
      let isDead = false;
      onTestFinished(async () => {
        if (!isDead) await host.close();
      });
      return {
        ...host,
        ask: (method, path, ask) => askUrl(`${host.url}${path}`, method, { key, ...ask }),
        die: () => {
          isDead = true;
          line.cut();
          // A dead process listens no more. Its sockets close; nothing that it does reaches the store.
          void host.close();
        },
      };
    },
  };
}

/** For one process: of its own, if there is a database. */
async function opened(folder: string, store: Store): Promise<Store> {
  if (!isShared) return store;
  const own = await openSuiteStore(folder);
  onTestFinished(() => own.close());
  return own;
}

/** A store that a node closes for itself alone, and whose answers can be cut off. */
function lineTo(store: Store): { readonly store: Store; cut(): void } {
  let isCut = false;
  const silence = () => new Promise(() => undefined);
  const port = <Port extends object>(of: Port): Port =>
    new Proxy(of, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => (isCut && name !== 'follow' ? silence() : Reflect.apply(value, target, given));
      },
    });
  const line = new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (name === 'close') return async () => undefined;
      return typeof value === 'object' && value !== null ? port(value) : value;
    },
    ownKeys: (target) => Reflect.ownKeys(target),
  });
  return {
    store: { ...line },
    cut() {
      isCut = true;
    },
  };
}

export const asked = ({ store }: TestCluster, runId: RunId) =>
  untilCommit(store, async () => (await openInterrupts(store, runId)).length > 0);

export const ended = ({ store }: TestCluster, runId: RunId) => untilCommit(store, () => hasEnded(store, runId));

export const accept = (node: TestNode, runId: RunId) =>
  node.ask('POST', `/v1/runs/${runId}/interrupts/n0`, { body: { resumeValue: { action: 'accept' } } });
