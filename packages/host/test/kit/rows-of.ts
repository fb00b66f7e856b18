/** Every row of a run, page by page. */
import type { RunId } from '@cairn/protocol';
import type { Row } from '../../src/log/ports/rows.ts';
import type { Store } from '../../src/log/ports/store.ts';

export async function rowsOf({ log }: Pick<Store, 'log'>, runId: RunId): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const page = await log.read({ runId, after: rows.length - 1, limit: 1_000_000 });
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}
