/** The public surface of `@cairn/client`: everything exported here, and nothing else. */
export {
  type AgentInventoryEntry,
  type ArtifactOverview,
  CairnError,
  type Discovery,
  type ErrorCode,
  type EventDoc,
  type EventDocOf,
  type EventType,
  type InboxChange,
  type InboxEntry,
  type InboxPage,
  isCairnError,
  type Json,
  type JsonObject,
  type OpenInterrupt,
  type RunArtifact,
  type RunChanges,
  type RunCreated,
  type RunDiff,
  type RunEventDoc,
  type RunList,
  type RunSnapshot,
  type RunStatus,
  type StreamMode,
  type ToolDescriptor,
  type UnknownEventDoc,
  type Webhook,
  type WorkflowDefinition,
} from '@cairn/protocol';
export type { Agents } from './agents.ts';
export type { CallOptions, ChangeOptions, PastOptions } from './calls.ts';
export { type ArtifactPage, type Client, type ClientOptions, createClient } from './client.ts';
export type { Key } from './connection.ts';
export type { Events, Polled, PollOptions } from './events.ts';
export type { FollowOptions, RunState, WatchOptions } from './follow.ts';
export { HostError } from './host-error.ts';
export type { Inbox, WatchInbox } from './inbox.ts';
export type { InterruptPage, Interrupts } from './interrupts.ts';
export type { Packs } from './packs.ts';
export type { Peers } from './peers.ts';
export type { ReadTokens } from './read-tokens.ts';
export type {
  ChainOptions,
  CreateRunOptions,
  DiffOptions,
  MarkedRun,
  NewRunRequest,
  RunArtifactOptions,
  RunFilter,
  RunPageFilter,
  Runs,
} from './runs.ts';
export type { Session } from './session.ts';
export type { Timers } from './timers.ts';
export type { ListTools, Tools } from './tools.ts';
export { type Delivery, type SignedDelivery, verifyCallback, verifyWebhook } from './webhook-signature.ts';
export type { Webhooks } from './webhooks.ts';
export type { WorkflowList, Workflows } from './workflows.ts';
