/** The contract of a whole store: every port, and the end of all of them. */
import { describe, expect, it } from 'vitest';
import { artifactsContract } from './artifacts.contract.ts';
import { blobsContract } from './blobs.contract.ts';
import { changesContract } from './changes.contract.ts';
import { checkpointsContract } from './checkpoints.contract.ts';
import { clusterContract } from './cluster.contract.ts';
import { contextsContract } from './contexts.contract.ts';
import { eachStore, type Open } from './contract.kit.ts';
import { credentialsContract } from './credentials.contract.ts';
import { definitionsContract } from './definitions.contract.ts';
import { eventLogContract } from './event-log.contract.ts';
import { expiringContract } from './expiring.contract.ts';
import { idempotencyContract } from './idempotency.contract.ts';
import { memoriesContract } from './memories.contract.ts';
import { packsContract } from './packs.contract.ts';
import { purgedForksContract } from './purged-forks.contract.ts';
import { purgesContract } from './purges.contract.ts';
import { queueContract } from './queue.contract.ts';
import { retentionContract } from './retention.contract.ts';
import { runIndexContract } from './run-index.contract.ts';
import { context, creation, row, runA } from './samples.kit.ts';
import { subscriptionsContract } from './subscriptions.contract.ts';

export function storeContract(open: Open): void {
  describe('event log', () => eventLogContract(open));
  describe('changes', () => changesContract(open));
  describe('run index', () => runIndexContract(open));
  describe('contexts', () => contextsContract(open));
  describe('queue', () => queueContract(open));
  describe('definitions', () => definitionsContract(open));
  describe('checkpoints', () => checkpointsContract(open));
  describe('idempotency records', () => idempotencyContract(open));
  describe('memories', () => memoriesContract(open));
  describe('packs', () => packsContract(open));
  describe('subscriptions', () => subscriptionsContract(open));
  describe('credentials', () => credentialsContract(open));
  describe('retention', () => retentionContract(open));
  describe('purges', () => purgesContract(open));
  describe('forks of purged runs', () => purgedForksContract(open));
  describe('blobs', () => blobsContract(open));
  describe('artifacts', () => artifactsContract(open));
  describe('expiring records', () => expiringContract(open));
  describe('cluster', () => clusterContract(open));
  describe('once it is closed', () => closedContract(open));
}

function closedContract(open: Open): void {
  const store = eachStore(open);

  it('refuses everything by name, after what it had accepted', async () => {
    const accepted = store().log.append(creation(runA));
    await store().close();
    await expect(accepted).resolves.toMatchObject({ seq: 0 });
    const refused = { code: 'store_closed' };
    await expect(store().log.append({ runId: runA, rows: [row('a')] })).rejects.toMatchObject(refused);
    await expect(store().log.head(runA)).rejects.toMatchObject(refused);
    await expect(store().log.read({ runId: runA, after: -1, limit: 1 })).rejects.toMatchObject(refused);
    await expect(store().queue.due()).rejects.toMatchObject(refused);
    await expect(store().queue.depth(0)).rejects.toMatchObject(refused);
    await expect(store().changes.read({ after: '0', limit: 1, filter: null })).rejects.toMatchObject(refused);
    await expect(store().changes.end()).rejects.toMatchObject(refused);
    await expect(store().runIndex.list({ tenant: 't', limit: 1 })).rejects.toMatchObject(refused);
    await expect(store().contexts.tenant(context)).rejects.toMatchObject(refused);
    await expect(store().definitions.get('h')).rejects.toMatchObject(refused);
    await expect(store().checkpoints.get(runA)).rejects.toMatchObject(refused);
    const key = { tenant: 't', endpoint: 'POST /x', key: 'k' };
    await expect(store().idempotency.get(key)).rejects.toMatchObject(refused);
    const memory = { tenant: 't', memoryRef: 'notes', now: 0, limit: 1 };
    await expect(store().memories.list(memory)).rejects.toMatchObject(refused);
    await expect(store().packs.list('t')).rejects.toMatchObject(refused);
    await expect(store().subscriptions.list('webhook')).rejects.toMatchObject(refused);
    await expect(store().credentials.get('x')).rejects.toMatchObject(refused);
    await expect(store().retention.nextGroup(null)).rejects.toMatchObject(refused);
    await expect(store().purges.unfinished(1)).rejects.toMatchObject(refused);
    await expect(store().artifacts.get(context, 'x')).rejects.toMatchObject(refused);
    await expect(store().blobs.get('t', 'x')).rejects.toMatchObject(refused);
    await expect(store().expiring.get({ kind: 'k', name: 'n' }, 0)).rejects.toMatchObject(refused);
    await expect(store().cluster.hold({ name: 'n', owner: 'o', now: 0, until: 1 })).rejects.toMatchObject(refused);
    await store().close();
  });
}
