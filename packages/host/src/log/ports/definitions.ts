/** Definitions by hash, and the names of workflows. */
export interface WorkflowRecord {
  readonly tenant: string;
  readonly workflowId: string;
  readonly version: string;
  readonly hash: string;
  readonly registeredAt: number;
}
