/** A row with every field, for tests of frames and lenses; not shipped. */
import type { ContextId, RunId } from '@cairn/protocol';
import type { Row } from '../ports/rows.ts';

export const plain: Row = {
  runId: 'run_1' as RunId,
  seq: 7,
  contextId: 'ctx_1' as ContextId,
  cursor: 99,
  at: Date.UTC(2026, 10, 15, 12, 30, 1, 5),
  type: 'node.started',
  nodeId: 'n1',
  cause: 6,
  audience: 'client',
  payload: '{"nodeId":"n1"}',
  task: null,
  face: 0,
  rowHash: 'r',
  hash: 'h',
};
