/** The contract of a whole store: log, index, queue and records together. */
import { describe } from 'vitest';
import { changesContract } from './changes.contract.ts';
import { idempotencyContract } from './idempotency.contract.ts';
import { importContract } from './import.contract.ts';
import { logContract } from './log.contract.ts';
import { queueContract } from './queue.contract.ts';
import { recordsContract } from './records.contract.ts';
import { rememberedContract } from './remembered.contract.ts';
import { runIndexContract } from './run-index.contract.ts';
import type { OpenStore } from './samples.kit.ts';
import { scopeContract } from './scope.contract.ts';
import { subscriptionsContract } from './subscriptions.contract.ts';

export function storeContract(open: OpenStore): void {
  describe('as a log', () => logContract(open));
  describe('as a log of all runs', () => changesContract(open));
  describe('as an index', () => runIndexContract(open));
  describe('as a home for imported runs', () => importContract(open));
  describe('for those who tell others', () => subscriptionsContract(open));
  describe('for requests that must not be carried out twice', () => idempotencyContract(open));
  describe('as a keeper of scopes', () => scopeContract(open));
  describe('as a queue', () => queueContract(open));
  describe('as records', () => recordsContract(open));
  describe('as what agents remember', () => rememberedContract(open));
}
