/** The public surface of @cairn/protocol. Everything here is meant for others; nothing else is. */
export {
  type AgentInventory,
  type AgentInventoryEntry,
  agentInventory,
  agentInventoryEntry,
  type MemoryDimension,
  memoryDimensions,
} from './agent-inventory.ts';
export {
  type AgentManifest,
  agentManifest,
  agentRefOf,
  type ManifestModelClass,
  manifestModelClasses,
  modelClassOf,
} from './agent-manifest.ts';
export { type AgentRef, agentRef, modelClasses } from './agent-ref.ts';
export {
  BUNDLE_VERSION,
  type BundleDefinition,
  type BundleEnd,
  type BundleHeader,
  type BundleRow,
  bundleDefinition,
  bundleEnd,
  bundleHeader,
  bundleRow,
} from './bundle.ts';
export { type AgentCalibration, type Calibration, calibration } from './calibration.ts';
export {
  type ConversationAnswer,
  type ConversationTurn,
  conversationAnswer,
  conversationTurn,
  MAX_PARTICIPANTS,
  parseConversationAnswer,
  participant,
  type SentTurn,
} from './conversation.ts';
export { type CreateRun, createRun, type RunCreated, runCreated } from './create-run.ts';
export { parsePosition } from './cursor.ts';
export type { DataOf } from './data-of.ts';
export { type DebugBundle, debugBundle } from './debug-bundle.ts';
export { type Discovery, type DiscoveryLimits, discovery, discoveryLimits, PROTOCOL_VERSION } from './discovery.ts';
export { type ErrorEnvelope, errorEnvelope, exitOfCode, statusOfCode, toEnvelope } from './error-envelope.ts';
export {
  CairnError,
  type CairnErrorOptions,
  type ErrorCode,
  type ErrorDetails,
  errorKinds,
  invariant,
  isCairnError,
  quoted,
  RetryableError,
  TerminalError,
  thrownText,
} from './errors.ts';
export type {
  Audience,
  Cause,
  EventOf,
  FoldEvent,
  KnownEvent,
  RawEvent,
  RunEvent,
  RunEventDoc,
  UnknownEvent,
} from './event.ts';
export { audienceOf } from './events/audiences.ts';
export {
  finishReasons,
  type ModelErrorClass,
  modelErrorClasses,
  type TaskStatus,
  taskStatuses,
} from './events/cairn.ts';
export {
  type EventType,
  eventPayloads,
  eventTypePattern,
  eventTypes,
  isEventType,
  type PayloadOf,
} from './events/catalog.ts';
export { checkRow } from './events/check-row.ts';
export type { ThresholdRule } from './events/node.ts';
export { type OrchestratorDecision, orchestratorDecision } from './events/orchestration.ts';
export { type Draft, type DraftOf, eventOf, foldEventOf, row, type StoredRow, typedEvent } from './events/row.ts';
export { type DrainPolicy, drainPolicies } from './events/run.ts';
export { isTerminalType, type TerminalType } from './events/terminal-types.ts';
export type { ErrorObject, Owner } from './fields.ts';
export { hostSurfaces } from './host-surfaces.ts';
export {
  type ContextId,
  contextId,
  type EventId,
  eventId,
  MAX_ID_LENGTH,
  parseRunId,
  type RunId,
  runId,
} from './ids.ts';
export {
  type InboxChange,
  type InboxEntry,
  type InboxPage,
  inboxChange,
  inboxEntry,
  inboxPage,
} from './inbox.ts';
export {
  type ApprovalAction,
  type ApprovalData,
  approvalActions,
  type ClarificationQuestion,
  type InterruptData,
  type InterruptKind,
  type InterruptPayload,
  interruptData,
  interruptKinds,
  interruptPayload,
} from './interrupts.ts';
export { isJsonObject, type Json, type JsonObject, jsonEquals } from './json.ts';
export { payloadSchema, type ShapeName, shapeNames, shapeSchema } from './json-schemas.ts';
export {
  type NodeTypeDescriptor,
  type NodeTypeList,
  nodeTypeDescriptor,
  nodeTypeList,
} from './node-types.ts';
export {
  type InterruptCallback,
  type InterruptToken,
  interruptCallback,
  interruptResolved,
  interruptToken,
  MAX_TOKEN_SECONDS,
  type MintInterruptToken,
  mintInterruptToken,
  type OpenInterrupt,
  type OpenInterrupts,
  openInterrupt,
  openInterrupts,
  type PendingInterrupts,
  pendingInterrupts,
  type TokenIntent,
  tokenIntents,
} from './open-interrupts.ts';
export { type PackManifest, packManifest } from './pack-manifest.ts';
export {
  type InstalledPack,
  type InstallPack,
  installedPack,
  installPack,
  type PackFileList,
  type PackList,
  type PackSignature,
  packFileList,
  packList,
  packSignature,
} from './packs.ts';
export { parseShape, parseWorkflowDefinition } from './parse.ts';
export { type EventsAnswer, eventsAnswer, POLL_TIMEOUT, type PollAnswer, pollAnswer } from './poll.ts';
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
  type RunCancelled,
  type RunList,
  type RunPaused,
  type RunResumed,
  type RunsCancelled,
  resumeRun,
  runCancelled,
  runList,
  runPaused,
  runResumed,
  runsCancelled,
  type WorkflowRegistered,
  workflowRegistered,
} from './requests.ts';
export {
  type ApprovalAnswer,
  approvalAnswer,
  type ClarificationAnswer,
  clarificationAnswer,
  type ExternalAnswer,
  externalAnswer,
  parseApprovalAnswer,
  parseClarificationAnswer,
  parseExternalAnswer,
} from './resume-values.ts';
export { parseEvent, runEventDoc } from './run-event-doc.ts';
export {
  type Configurable,
  configurable,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  type RunOptions,
  reasoningVerbosities,
  runOptions,
} from './run-options.ts';
export { type RunSnapshot, runSnapshotSchema } from './run-snapshot.ts';
export { isTerminalStatus, type RunStatus, runStatuses } from './run-status.ts';
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
  type ToolDescriptor,
  type ToolList,
  toolDescriptor,
  toolList,
  toolSources,
  toolViews,
} from './tools.ts';
export type { Channels, ChannelView } from './views/channels.ts';
export { causationId, eventDoc } from './views/event-doc.ts';
export type { InterruptEnd, InterruptView, VoteView } from './views/interrupts.ts';
export type { NodeStatus, NodeView } from './views/nodes.ts';
export { promptOf } from './views/prompt.ts';
export { foldRun } from './views/run.ts';
export { newRunView, type RunView } from './views/run-view.ts';
export { EVENT_LOG_SCHEMA_VERSION, isoTime, runSnapshot } from './views/snapshot.ts';
export {
  canFollow,
  noWaits,
  statusOf,
  statusTransitions,
  type WaitCounts,
  type WaitingStatus,
  waitingStatus,
} from './views/status.ts';
export { taskFace } from './views/task-face.ts';
export type { UsageView } from './views/usage.ts';
export { waitingInterrupts } from './views/waiting-interrupts.ts';
export {
  type CallbackSecret,
  callbackSecret,
  type DeadLetter,
  type RegisterWebhook,
  registerWebhook,
  type Webhook,
  type WebhookDelivery,
  type WebhookList,
  type WebhookRegistered,
  type WebhookState,
  webhook,
  webhookDelivery,
  webhookList,
  webhookRegistered,
  webhookStates,
} from './webhooks.ts';
export {
  type ChannelDeclaration,
  channelDeclaration,
  type EdgeCondition,
  edgeCondition,
  type PortValue,
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
