/** The records of the memory store: definitions, names, checkpoints, packs and idempotency outcomes in plain maps. */
import type { RunId } from '@cairn/protocol';
import type { Checkpoint } from '../ports/checkpoints.ts';
import type { WorkflowRecord } from '../ports/definitions.ts';
import { type IdempotencyRecord, maySettle, mayTake, pendingRecord } from '../ports/idempotency.ts';
import type { Remembered } from '../ports/memories.ts';
import type { PackRecord } from '../ports/packs.ts';
import type { Records } from '../ports/store.ts';
import type { SubscriptionRecord } from '../ports/subscriptions.ts';
import { packVersionTaken, subscriptionTaken, versionTaken } from '../refusals.ts';

/** One text for the three parts, which may hold any character. */
export const idempotencyKey = (of: Pick<IdempotencyRecord, 'tenant' | 'endpoint' | 'key'>): string =>
  JSON.stringify([of.tenant, of.endpoint, of.key]);

/** What an append commits with its rows. */
interface Appended {
  readonly idempotency: Map<string, IdempotencyRecord>;
  readonly remembered: Remembered;
}

/** `assertOpen` throws once the store is closed. */
export function memoryRecords({ idempotency, remembered }: Appended, assertOpen: () => void): Records {
  const definitions = new Map<string, string>();
  const workflows: WorkflowRecord[] = [];
  const checkpoints = new Map<RunId, Checkpoint>();
  const marks = new Map<string, string>();

  const latestOf = (tenant: string, workflowId: string): WorkflowRecord | null =>
    workflows.findLast((one) => one.tenant === tenant && one.workflowId === workflowId) ?? null;
  const versionOf = (tenant: string, workflowId: string, version: string): WorkflowRecord | null =>
    workflows.find((one) => one.tenant === tenant && one.workflowId === workflowId && one.version === version) ?? null;

  return {
    async putDefinition(hash, body) {
      assertOpen();
      if (!definitions.has(hash)) definitions.set(hash, body);
    },
    async definition(hash) {
      assertOpen();
      return definitions.get(hash) ?? null;
    },
    async putWorkflow(record) {
      assertOpen();
      const known = versionOf(record.tenant, record.workflowId, record.version);
      if (known === null) workflows.push(record);
      else if (known.hash !== record.hash) throw versionTaken(record, known.hash);
    },
    async workflow(tenant, workflowId, version) {
      assertOpen();
      return version === undefined ? latestOf(tenant, workflowId) : versionOf(tenant, workflowId, version);
    },
    async workflows(tenant) {
      assertOpen();
      const ids = new Set(workflows.filter((one) => one.tenant === tenant).map((one) => one.workflowId));
      return [...ids].sort().map((workflowId) => latestOf(tenant, workflowId)!);
    },
    async putCheckpoint(checkpoint) {
      assertOpen();
      const kept = checkpoints.get(checkpoint.runId);
      if (kept === undefined || kept.seq <= checkpoint.seq) checkpoints.set(checkpoint.runId, checkpoint);
    },
    async checkpoint(runId) {
      assertOpen();
      return checkpoints.get(runId) ?? null;
    },
    async mark(reader) {
      assertOpen();
      return marks.get(reader) ?? null;
    },
    async putMark(reader, position) {
      assertOpen();
      marks.set(reader, position);
    },
    ...memorySubscriptions(assertOpen),
    ...memoryPacks(assertOpen),
    ...memoryOutcomes(idempotency, assertOpen),
    async remembered(query) {
      assertOpen();
      return remembered.remembered(query);
    },
    async rememberedEntry(query, id) {
      assertOpen();
      return remembered.rememberedEntry(query, id);
    },
    async searchRemembered(query, text) {
      assertOpen();
      return remembered.searchRemembered(query, text);
    },
  };
}

type Outcomes = Pick<
  Records,
  'idempotency' | 'claimIdempotency' | 'settleIdempotency' | 'dropIdempotency' | 'expireIdempotency'
>;

function memoryOutcomes(outcomes: Map<string, IdempotencyRecord>, assertOpen: () => void): Outcomes {
  return {
    async idempotency(tenant, endpoint, key) {
      assertOpen();
      return outcomes.get(idempotencyKey({ tenant, endpoint, key })) ?? null;
    },
    async claimIdempotency(claim) {
      assertOpen();
      const standing = outcomes.get(idempotencyKey(claim));
      if (standing !== undefined && !mayTake(standing, claim)) return standing;
      outcomes.set(idempotencyKey(claim), pendingRecord(claim));
      return null;
    },
    async settleIdempotency(record, owner) {
      assertOpen();
      if (maySettle(outcomes.get(idempotencyKey(record)) ?? null, owner)) outcomes.set(idempotencyKey(record), record);
    },
    async dropIdempotency(claim) {
      assertOpen();
      const standing = outcomes.get(idempotencyKey(claim));
      if (standing?.state === 'pending' && standing.owner === claim.owner) outcomes.delete(idempotencyKey(claim));
    },
    async expireIdempotency(before) {
      assertOpen();
      const old = [...outcomes].filter(([, record]) => record.at < before);
      for (const [key] of old) outcomes.delete(key);
      return old.length;
    },
  };
}

type Subscriptions = Pick<Records, 'putSubscription' | 'subscriptions' | 'saveSubscriptionState' | 'dropSubscription'>;

function memorySubscriptions(assertOpen: () => void): Subscriptions {
  const subscriptions = new Map<string, SubscriptionRecord>();
  return {
    async putSubscription(record) {
      assertOpen();
      if (subscriptions.has(record.id)) throw subscriptionTaken(record);
      subscriptions.set(record.id, record);
    },
    async subscriptions(kind) {
      assertOpen();
      return [...subscriptions.values()].filter((one) => one.kind === kind);
    },
    async saveSubscriptionState(id, state) {
      assertOpen();
      const kept = subscriptions.get(id);
      if (kept !== undefined) subscriptions.set(id, { ...kept, state });
    },
    async dropSubscription(tenant, id) {
      assertOpen();
      return subscriptions.get(id)?.tenant === tenant && subscriptions.delete(id);
    },
  };
}

function memoryPacks(assertOpen: () => void): Pick<Records, 'putPack' | 'packs' | 'dropPack'> {
  let kept: readonly (PackRecord & { readonly isRemoved: boolean })[] = [];
  const isOf = (tenant: string, name: string) => (one: PackRecord) => one.tenant === tenant && one.name === name;
  return {
    async putPack(record) {
      assertOpen();
      const isOther = isOf(record.tenant, record.name);
      const known = kept.find((one) => isOther(one) && one.version === record.version);
      if (known !== undefined && known.hash !== record.hash) throw packVersionTaken(record, known.hash);
      kept = [...kept.filter((one) => one !== known), { ...record, isRemoved: false }];
    },
    async packs(tenant) {
      assertOpen();
      const newest = new Map(
        kept.filter((one) => one.tenant === tenant && !one.isRemoved).map((one) => [one.name, one]),
      );
      return [...newest.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ isRemoved: _, ...record }) => record);
    },
    async dropPack(tenant, name) {
      assertOpen();
      const isIt = isOf(tenant, name);
      const wasThere = kept.some((one) => isIt(one) && !one.isRemoved);
      kept = kept.map((one) => (isIt(one) ? { ...one, isRemoved: true } : one));
      return wasThere;
    },
  };
}
