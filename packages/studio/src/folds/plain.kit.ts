/** The state of a fold as plain data, to be compared. */
import type { RunFold } from './run-fold.ts';

export const plain = ({ conversation, timeline, nodes, totals, seq }: RunFold) => ({
  items: [...conversation.items],
  spans: [...timeline.spans],
  lanes: timeline.lanes,
  nodes: [...nodes.nodes],
  edges: [...nodes.edges],
  totals: { ...totals, status: totals.status, openQuestions: totals.openQuestions },
  seq,
});
