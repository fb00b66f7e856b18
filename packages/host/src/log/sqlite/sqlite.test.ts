/** The SQLite store keeps the contract on a real file. */
import { describe } from 'vitest';
import { storeContract } from '../store.contract.ts';
import { folders, open } from './folders.contract.ts';

describe('the SQLite store', () => {
  const { fresh } = folders();
  storeContract(() => open(fresh()));
});
