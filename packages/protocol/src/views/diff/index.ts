/** What hosts and clients use of diffs. */
export {
  type Alignment,
  alignSides,
  type EventDifference,
  type MovePair,
} from './align-sides.ts';
export { comparable, type OwnIds } from './comparable.ts';
export { describeMove } from './describe-move.ts';
export { DiffSide, type Move } from './diff-side.ts';
export { type LineDiff, lineDiff, MAX_LINE_EDITS } from './line-diff.ts';
export { type DiffSection, diffSections } from './moves.ts';
export {
  type ArtifactAlignment,
  type ArtifactPair,
  alignArtifacts,
  SideArtifacts,
  type WrittenArtifact,
  type WrittenVersion,
} from './side-artifacts.ts';
export type { Slices } from './slices.ts';
export { linesOf, type TextPart, textDiff } from './text-diff.ts';
export { type DiffRoom, fieldChanges, shownValue, type ValueChange, valueChanges } from './value-changes.ts';
