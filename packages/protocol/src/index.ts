/** The public surface of @cairn/protocol. */
export {
  type AgentInventory,
  type AgentInventoryEntry,
  agentInventory,
  agentInventoryEntry,
  type MemoryDimension,
  memoryDimensions,
} from './agents/agent-inventory.ts';
export {
  type AgentManifest,
  agentManifest,
  agentRefOf,
  type ManifestModelClass,
  manifestModelClasses,
  modelClassOf,
} from './agents/agent-manifest.ts';
export { type AgentRef, agentIdProblem, agentRef, modelClasses } from './agents/agent-ref.ts';
export { type AgentCalibration, type Calibration, calibration } from './agents/calibration.ts';
export { type PackManifest, packManifest } from './agents/pack-manifest.ts';
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
} from './agents/packs.ts';
export {
  type ToolDescriptor,
  type ToolList,
  toolDescriptor,
  toolList,
  toolSources,
  toolViews,
} from './agents/tools.ts';
export { childRunIdOf, forkedChildIdOf, isBelowRun, levelOfRun, runAbove } from './child-run-id.ts';
export type { Closed, DataOf } from './data-of.ts';
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
} from './events/catalogue.ts';
export { checkRow } from './events/check-row.ts';
export type {
  Audience,
  Cause,
  EventDoc,
  EventDocOf,
  EventOf,
  FoldEvent,
  KnownEvent,
  RawEvent,
  RunEvent,
  RunEventDoc,
  UnknownEvent,
  UnknownEventDoc,
} from './events/event.ts';
export type { ThresholdRule } from './events/node.ts';
export { type OrchestratorDecision, orchestratorDecision } from './events/orchestration.ts';
export {
  isAlwaysFact,
  isCallRequest,
  isCallResult,
  isOnlyDecided,
  isStreamedPiece,
  mayNameRemoteCause,
} from './events/roles.ts';
export {
  type Draft,
  type DraftOf,
  eventOf,
  foldEventOf,
  row,
  type StoredRow,
  typedEvent,
  usageRow,
} from './events/row.ts';
export { type DrainPolicy, drainPolicies } from './events/run.ts';
export { parseEvent, runEventDoc } from './events/run-event-doc.ts';
export { isTerminalType, type TerminalType } from './events/terminal-types.ts';
export type { ErrorObject, Owner } from './fields.ts';
export * from './host/call-budget.ts';
export * from './host/causation.ts';
export { credentialList } from './host/credentials.ts';
export {
  type Discovery,
  type DiscoveryLimits,
  discovery,
  discoveryLimits,
  PROTOCOL_VERSION,
} from './host/discovery.ts';
export { hostSurfaces } from './host/host-surfaces.ts';
export * from './host/peers.ts';
export {
  type BrowserSession,
  browserSession,
  type OpenedSession,
  openedSession,
  type SignInLink,
  signInLink,
} from './host/session.ts';
export { SESSION_TOKEN_HEADER } from './host/session-header.ts';
export { type TenantLimits, tenantLimits } from './host/tenant-limits.ts';
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
} from './host/webhooks.ts';
export {
  type ContextId,
  contextId,
  type EventId,
  eventId,
  eventPlace,
  MAX_ID_LENGTH,
  type PayloadIdKind,
  parseRunId,
  payloadId,
  type RunId,
  runId,
} from './ids.ts';
export {
  type ConversationAnswer,
  type ConversationTurn,
  conversationAnswer,
  conversationTurn,
  MAX_PARTICIPANTS,
  parseConversationAnswer,
  participant,
  type SentTurn,
} from './interrupts/conversation.ts';
export { canDecline, declinable, withoutDecline } from './interrupts/declining.ts';
export {
  type InboxChange,
  type InboxEntry,
  type InboxPage,
  inboxChange,
  inboxEntry,
  inboxPage,
} from './interrupts/inbox.ts';
export {
  type ApprovalAction,
  type ApprovalData,
  approvalActions,
  CLIENT_TOOL_EVENT,
  type ClarificationQuestion,
  type InterruptData,
  type InterruptKind,
  type InterruptPayload,
  interruptData,
  interruptKinds,
  interruptPayload,
  REQUIRE_USER,
  SIGN_IN_EVENT,
  type Urgency,
  urgencies,
} from './interrupts/interrupts.ts';
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
} from './interrupts/open-interrupts.ts';
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
} from './interrupts/resume-values.ts';
export { isJsonObject, type Json, type JsonObject, jsonEquals, objectOrEmpty } from './json.ts';
export { payloadSchema, type ShapeName, shapeNames, shapeSchema } from './json-schemas.ts';
export { heldSize, jsonSize } from './json-size.ts';
export { LARGE_VALUE, largeValueText } from './large-values.ts';
export { parseShape } from './parse.ts';
export * from './runs/index.ts';
export * from './task-events/client-tools.ts';
export * from './task-events/kinds.ts';
export * from './task-events/requests.ts';
export { type TaskEvent, type TaskEventOf, taskEvent } from './task-events/task-event.ts';
export { isBelowTask, noteParent, type TaskParents } from './task-events/task-parents.ts';
export { isWaitSaid, newTaskWait, type TaskWait } from './task-events/task-wait.ts';
export {
  type ArtifactFamily,
  type ArtifactPiece,
  type ArtifactsView,
  type ArtifactVersionView,
  type ArtifactView,
  artifactPiece,
  foldArtifacts,
  newArtifactsView,
} from './views/artifacts.ts';
export type { Channels, ChannelView } from './views/channels.ts';
export * from './views/diff/index.ts';
export { causationId, eventDoc } from './views/event-doc.ts';
export { forkGapMs } from './views/forked.ts';
export {
  type InterruptEnd,
  type InterruptView,
  interruptEnd,
  isClientCall,
  isDeniedSignIn,
  isHostSignIn,
  isSignIn,
  requiresUser,
  type VoteView,
} from './views/interrupts.ts';
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
export { errorInfo } from './views/task-errors.ts';
export { taskFace } from './views/task-face.ts';
export { pendingOf } from './views/task-questions.ts';
export { questionStatus } from './views/task-status.ts';
export { audienceIn } from './views/thoughts.ts';
export type { UsageView } from './views/usage.ts';
export { waitingInterrupts } from './views/waiting-interrupts.ts';
