/** All folds of a run that have a past. */
import { Conversation } from './conversation/index.ts';
import { NodeStates } from './node-states.ts';
import type { RunRow } from './run-row.ts';
import { Timeline } from './timeline.ts';
import { Totals } from './totals.ts';

export class RunFold {
  readonly conversation: Conversation;
  readonly timeline: Timeline;
  readonly nodes: NodeStates;
  readonly totals: Totals;
  /** The last row that was taken in; -1 before the first. */
  seq = -1;

  constructor(origin?: RunFold) {
    this.conversation = origin?.conversation.fork() ?? new Conversation();
    this.timeline = origin?.timeline.fork() ?? new Timeline();
    this.nodes = origin?.nodes.fork() ?? new NodeStates();
    this.totals = origin?.totals.fork() ?? new Totals();
    this.seq = origin?.seq ?? -1;
  }

  take(row: RunRow): void {
    this.conversation.take(row);
    this.timeline.take(row);
    this.nodes.take(row);
    this.totals.take(row);
    this.seq = row.seq;
  }

  fork(): RunFold {
    return new RunFold(this);
  }
}
