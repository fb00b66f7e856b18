/** Definitions of workflows, agents and prompt templates, keyed by the hash of their text, and the registered workflows of tenants. */

export interface Definitions {
  /**
   * Idempotent: the key is the hash of the body. The bytes of a new body count as those of the payer's events; without a
   * payer they are the host's own. Fails with `quota_exceeded` when the payer has no room. A body that is there already
   * costs nobody anything, whoever stored it.
   */
  put(hash: string, body: string, payer?: Payer): Promise<void>;
  get(hash: string): Promise<string | null>;
  /**
   * Registers a version of a workflow. If the version exists with the same hash, nothing changes; with another hash, it
   * fails with `conflict`. With `replaces`, the record takes the place of that version and becomes the latest one.
   */
  putWorkflow(record: WorkflowRecord, options?: { readonly replaces?: boolean }): Promise<void>;
  /** The given version, or the latest registered one. */
  workflow(tenant: string, workflowId: string, version?: string): Promise<WorkflowRecord | null>;
  /** The latest registered version of each workflow, sorted by id. */
  workflows(tenant: string): Promise<readonly WorkflowRecord[]>;
  /** The number of versions of all workflows of a tenant. */
  count(tenant: string): Promise<number>;
}

/** The tenant whose quota a definition takes from. */
export interface Payer {
  readonly tenant: string;
  readonly maxTenantBytes?: number | undefined;
}

export interface WorkflowRecord {
  readonly tenant: string;
  readonly workflowId: string;
  readonly version: string;
  readonly hash: string;
  readonly registeredAt: number;
}
