/** How many versions of workflows a tenant may register: each is on disk for good, because runs may need it. */
import { quoted, TerminalError } from '@cairn/protocol';
import type { Definitions, WorkflowRecord } from '../../log/ports/definitions.ts';

/** The list of the newest ones is read at once, in some 30 ms if each is of another workflow. */
export const MAX_VERSIONS = 10_000;

/** Throws `quota_exceeded` unless there is room, or the version is there already. */
export async function refuseManyVersions(
  definitions: Pick<Definitions, 'count' | 'workflow'>,
  { tenant, workflowId, version }: Pick<WorkflowRecord, 'tenant' | 'workflowId' | 'version'>,
): Promise<void> {
  const used = await definitions.count(tenant);
  if (used < MAX_VERSIONS || (await definitions.workflow(tenant, workflowId, version)) !== null) return;
  throw new TerminalError('quota_exceeded', {
    message: `The tenant ${quoted(tenant, 80)} has ${used} versions of workflows, which is the maximum.`,
    hint: 'Register a definition again under a version that it has, or use another tenant.',
    details: { used, limit: MAX_VERSIONS },
  });
}
