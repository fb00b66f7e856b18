/** How often people agreed with what an agent stated, by how sure it was. */
import type { AgentCalibration } from '@cairn/protocol';

export interface Judged {
  readonly from: number;
  readonly to: number;
  readonly stated: number;
  /** Decisions that a person approved, edited or rejected. */
  readonly verdicts: number;
  /** The share that was approved as it was; null without a verdict. */
  readonly right: number | null;
}

export const bucketsOf = ({ buckets }: AgentCalibration): readonly Judged[] =>
  buckets.map(({ from, to, stated, approved, edited, rejected }) => {
    const verdicts = approved + edited + rejected;
    return { from, to, stated, verdicts, right: verdicts === 0 ? null : approved / verdicts };
  });
