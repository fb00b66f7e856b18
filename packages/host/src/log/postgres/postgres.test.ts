/** The Postgres store keeps the contract on a real server. */
import { describe } from 'vitest';
import { appendContract } from '../ports/append.contract.ts';
import { changesContract } from '../ports/changes.contract.ts';
import { contextContract } from '../ports/context.contract.ts';
import { idempotencyContract } from '../ports/idempotency.contract.ts';
import { emptiedStores } from './server.kit.ts';

describe('the Postgres store', () => {
  const open = emptiedStores();
  describe('appends', () => appendContract(open));
  describe('changes', () => changesContract(open));
  describe('contexts', () => contextContract(open));
  describe('idempotency records', () => idempotencyContract(open));
});
