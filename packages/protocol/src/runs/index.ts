/** The public part of this folder: requests, responses and documents of runs. `../index.ts` exports it whole. */
export type { ArtifactEntry, ArtifactList, ArtifactOverview, ArtifactSaved, RunArtifact } from './artifacts.ts';
export {
  artifactContent,
  artifactEdit,
  artifactList,
  artifactOverview,
  artifactSaved,
  runArtifact,
} from './artifacts.ts';
export {
  BUNDLE_VERSION,
  type BundleBlob,
  type BundleDefinition,
  type BundleEnd,
  type BundleHeader,
  type BundleRow,
  type BundleRun,
  bundleBlob,
  bundleDefinition,
  bundleEnd,
  bundleHeader,
  bundleRow,
  bundleRun,
} from './bundle.ts';
export { type ChainChecked, chainChecked } from './chain-check.ts';
export { type CreateRun, createRun, type RunCreated, runCreated } from './create-run.ts';
export { parsePosition } from './cursor.ts';
export { type DebugBundle, debugBundle } from './debug-bundle.ts';
export { type ForkMode, forkModes } from './fork-modes.ts';
export {
  type CallRule,
  type CallUse,
  callRule,
  callUses,
  type ForkOverlay,
  type ForkRun,
  forkRun,
  MAX_CALL_RULES,
  MAX_OVERLAY_BYTES,
  type RetryRun,
  type RunForked,
  retryRun,
  runForked,
} from './fork-run.ts';
export {
  type NodeTypeDescriptor,
  type NodeTypeList,
  nodeTypeDescriptor,
  nodeTypeList,
} from './node-types.ts';
export { type EventsAnswer, eventsAnswer, POLL_TIMEOUT, type PollAnswer, pollAnswer } from './poll.ts';
export {
  MAX_READ_TOKEN_SECONDS,
  type MintReadToken,
  mintReadToken,
  type ReadToken,
  readToken,
} from './read-tokens.ts';
export {
  type AnswerInterrupt,
  answerInterrupt,
  type BulkCancelRuns,
  bulkCancelRuns,
  type CancelRun,
  cancelRun,
  type InterruptAnswered,
  interruptAnswered,
  MAX_BULK_CANCEL,
  type PauseRun,
  pauseRun,
  type ResumeRun,
  type RetentionPlan,
  type RunCancelled,
  type RunChanges,
  type RunList,
  type RunPaused,
  type RunPurged,
  type RunResumed,
  type RunsCancelled,
  resumeRun,
  retentionPlan,
  runCancelled,
  runChanges,
  runList,
  runPaused,
  runPurged,
  runResumed,
  runsCancelled,
  type WorkflowRegistered,
  workflowRegistered,
} from './requests.ts';
export { type ArtifactDiff, type DiffEntry, type RunDiff, runDiff } from './run-diff.ts';
export {
  type Configurable,
  configurable,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  type RunOptions,
  reasoningVerbosities,
  runOptions,
} from './run-options.ts';
export { type LocalParent, parentOf, type RunParent } from './run-parent.ts';
export { type RunSnapshot, runSnapshotSchema } from './run-snapshot.ts';
export { isTerminalStatus, type RunStatus, runStatuses } from './run-status.ts';
export {
  CHECKPOINT_VERSION,
  type CheckpointHeader,
  type CheckpointRun,
  checkpointHeader,
  checkpointRun,
  checkpointSignature,
} from './signed-checkpoint.ts';
export {
  isTransition,
  isUpdate,
  MAX_BUFFER_MS,
  parseStreamModes,
  type StreamMode,
  shownAs,
  streamModes,
  streamTypes,
} from './stream-modes.ts';
export {
  type AuthoredWorkflow,
  authoredWorkflow,
  type ChannelDeclaration,
  channelDeclaration,
  type EdgeCondition,
  edgeCondition,
  type PortValue,
  parseAuthoredWorkflow,
  parseWorkflowDefinition,
  portValue,
  type TriggerRule,
  triggerRules,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  type WorkflowSettings,
  type WorkflowVariable,
  workflowDefinition,
  workflowEdge,
  workflowNode,
  workflowSettings,
  workflowVariable,
} from './workflow-definition.ts';
