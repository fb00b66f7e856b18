/** The SQLite store keeps the contract on a real file. */
import { describe } from 'vitest';
import { storeContract } from '../ports/store.contract.ts';
import { folders, open } from './folder/folders.kit.ts';

describe('the SQLite store', () => {
  const { fresh } = folders();
  storeContract(() => open(fresh()));
});
