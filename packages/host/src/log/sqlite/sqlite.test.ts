/** The SQLite store keeps the contract on a real file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { storeContract } from '../store.contract.ts';
import { openSqliteStore } from './open.ts';

describe('the SQLite store', () => {
  let root: string;
  let opened = 0;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'cairn-sqlite-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  storeContract(() => {
    opened += 1;
    return openSqliteStore({
      folder: join(root, `${opened}`),
      onFault: (error) => {
        throw error;
      },
    });
  });
});
