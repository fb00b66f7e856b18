/** Finds who can read a recorded row: the driver of its node. */
import type { Workflow } from '../workflow/node-type.ts';
import type { RecordedCalls } from './recorded-calls.ts';

/** Undefined for a node without a driver, whose calls are steps, and for a row of no node. */
export const recordedBy = ({ nodes }: Workflow, nodeId: string | null): RecordedCalls | undefined =>
  nodeId === null ? undefined : nodes.get(nodeId)?.type.driver?.recorded;
