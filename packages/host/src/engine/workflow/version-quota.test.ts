import { expect, test } from 'vitest';
import type { WorkflowRecord } from '../../log/ports/definitions.ts';
import { MAX_VERSIONS, refuseManyVersions } from './version-quota.ts';

const known: WorkflowRecord = { tenant: 't', workflowId: 'known', version: '1', hash: 'h', registeredAt: 0 };

/** Definitions of a tenant that has so many versions. */
const having = (count: number) => ({
  count: async () => count,
  workflow: async (_: string, id: string) => (id === known.workflowId ? known : null),
});

test('a tenant registers versions up to the maximum, and then only those that it has', async () => {
  const added = { ...known, workflowId: 'added' };
  await refuseManyVersions(having(MAX_VERSIONS - 1), added);
  await refuseManyVersions(having(MAX_VERSIONS), known);
  await expect(refuseManyVersions(having(MAX_VERSIONS), added)).rejects.toMatchObject({
    code: 'quota_exceeded',
    details: { used: MAX_VERSIONS, limit: MAX_VERSIONS },
  });
});
