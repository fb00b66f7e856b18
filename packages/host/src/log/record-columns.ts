/** The columns of small tables as every database has them, and their conversion to records. */
import type { ArtifactFamily, RunId } from '@cairn/protocol';
import type { ArtifactState, ArtifactVersion } from './ports/artifacts.ts';
import type { CredentialRecord } from './ports/credentials.ts';
import type { WorkflowRecord } from './ports/definitions.ts';
import type { IdempotencyKey, IdempotencyRecord, IdempotencyState } from './ports/idempotency.ts';
import type { MemoryRecord } from './ports/memories.ts';
import type { PackRecord } from './ports/packs.ts';
import { parseTexts } from './run-columns.ts';

export type ArtifactColumns = [
  artifactId: string,
  version: number,
  family: ArtifactFamily,
  runId: RunId,
  state: ArtifactState,
  firstSeq: number,
  lastSeq: number,
  size: number,
  name: string | null,
  mimeType: string | null,
  updatedAt: number,
];

export function artifactVersionOf(columns: ArtifactColumns): ArtifactVersion {
  const [artifactId, version, family, runId, state, firstSeq, lastSeq, size, name, mimeType, updatedAt] = columns;
  return { artifactId, version, family, runId, state, firstSeq, lastSeq, size, name, mimeType, updatedAt };
}

export const CREDENTIAL_COLUMNS = 'ref, tenant, principal, provider, scopes, sealed, expires_at, stored_at';

export type CredentialColumns = [
  ref: string,
  tenant: string,
  principal: string,
  provider: string,
  scopes: string,
  sealed: string,
  expiresAt: number | null,
  storedAt: number,
];

export function credentialOf(columns: CredentialColumns): CredentialRecord {
  const [ref, tenant, principal, provider, scopesText, sealed, expiresAt, storedAt] = columns;
  const scopes: readonly string[] = JSON.parse(scopesText);
  return { ref, tenant, principal, provider, scopes, sealed, expiresAt, storedAt };
}

/** All but the key. */
export const IDEMPOTENCY_COLUMNS = 'digest, state, owner, lease_until, status, headers, body, at';

export type IdempotencyColumns = [
  requestDigest: string,
  state: IdempotencyState,
  owner: string | null,
  until: number | null,
  status: number,
  headers: string,
  body: string,
  at: number,
];

export function idempotencyRecordOf(
  { tenant, endpoint, key }: IdempotencyKey,
  [requestDigest, state, owner, until, status, headers, body, at]: IdempotencyColumns,
): IdempotencyRecord {
  return { tenant, endpoint, key, requestDigest, state, owner, until, status, headers, body, at };
}

export type PackColumns = [
  tenant: string,
  name: string,
  version: string,
  hash: string,
  installedAt: number,
  body: string,
];

export const packOf = ([tenant, name, version, hash, installedAt, body]: PackColumns): PackRecord => ({
  tenant,
  name,
  version,
  hash,
  installedAt,
  body,
});

export const WORKFLOW_COLUMNS = 'tenant, id, version, hash, registered_at';

export type WorkflowColumns = [tenant: string, workflowId: string, version: string, hash: string, registeredAt: number];

export const workflowOf = ([tenant, workflowId, version, hash, registeredAt]: WorkflowColumns): WorkflowRecord => ({
  tenant,
  workflowId,
  version,
  hash,
  registeredAt,
});

export type MemoryColumns = [id: string, content: string, tags: string, createdAt: number, expiresAt: number | null];

export const memoryOf = ([id, content, tags, createdAt, expiresAt]: MemoryColumns): MemoryRecord => ({
  id,
  content,
  tags: parseTexts(tags),
  createdAt,
  expiresAt,
});
