/** Definitions of workflows and agents, by the hash of their text, and the workflows that tenants registered. */

export interface Definitions {
  /** Idempotent: the hash is that of the body. */
  put(hash: string, body: string): Promise<void>;
  get(hash: string): Promise<string | null>;
  /** Registers a version of a workflow. `conflict` when the version exists with another hash. */
  putWorkflow(record: WorkflowRecord): Promise<void>;
  /** One version, or without a version the one registered last. */
  workflow(tenant: string, workflowId: string, version?: string): Promise<WorkflowRecord | null>;
  /** The version registered last of each workflow, by id. */
  workflows(tenant: string): Promise<readonly WorkflowRecord[]>;
}

export interface WorkflowRecord {
  readonly tenant: string;
  readonly workflowId: string;
  readonly version: string;
  readonly hash: string;
  readonly registeredAt: number;
}
