/** The Postgres store keeps the contract on a real server. */
import { describe } from 'vitest';
import { storeContract } from '../ports/store.contract.ts';
import { emptiedStores } from './server.kit.ts';

describe('the Postgres store', () => storeContract(emptiedStores()));
