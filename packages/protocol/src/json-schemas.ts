/** The JSON Schemas of every public shape, made from the same definitions that give the types and the parsers. */
import { z } from 'zod';
import { agentInventory, agentInventoryEntry } from './agent-inventory.ts';
import { agentManifest } from './agent-manifest.ts';
import { agentRef } from './agent-ref.ts';
import { conversationAnswer, conversationTurn } from './conversation.ts';
import { createRun, runCreated } from './create-run.ts';
import { debugBundle } from './debug-bundle.ts';
import { discovery } from './discovery.ts';
import { errorEnvelope } from './error-envelope.ts';
import { type EventType, eventPayloads } from './events/catalog.ts';
import { inboxChange, inboxEntry, inboxPage } from './inbox.ts';
import { interruptPayload } from './interrupts.ts';
import { nodeTypeDescriptor, nodeTypeList } from './node-types.ts';
import {
  interruptCallback,
  interruptResolved,
  interruptToken,
  mintInterruptToken,
  openInterrupt,
  openInterrupts,
  pendingInterrupts,
} from './open-interrupts.ts';
import { packManifest } from './pack-manifest.ts';
import { installedPack, installPack, packFileList, packList, packSignature } from './packs.ts';
import { eventsAnswer, pollAnswer } from './poll.ts';
import {
  answerInterrupt,
  bulkCancelRuns,
  cancelRun,
  interruptAnswered,
  pauseRun,
  resumeRun,
  runCancelled,
  runList,
  runPaused,
  runResumed,
  runsCancelled,
  workflowRegistered,
} from './requests.ts';
import { approvalAnswer, clarificationAnswer, externalAnswer } from './resume-values.ts';
import { runEventDoc } from './run-event-doc.ts';
import { runOptions } from './run-options.ts';
import { runSnapshotSchema } from './run-snapshot.ts';
import { toolDescriptor, toolList } from './tools.ts';
import {
  callbackSecret,
  registerWebhook,
  webhook,
  webhookDelivery,
  webhookList,
  webhookRegistered,
} from './webhooks.ts';
import { workflowDefinition } from './workflow-definition.ts';

const shapes = {
  AgentInventory: agentInventory,
  AgentInventoryEntry: agentInventoryEntry,
  AgentManifest: agentManifest,
  AgentRef: agentRef,
  AnswerInterrupt: answerInterrupt,
  ApprovalAnswer: approvalAnswer,
  BulkCancelRuns: bulkCancelRuns,
  CallbackSecret: callbackSecret,
  CancelRun: cancelRun,
  ClarificationAnswer: clarificationAnswer,
  ConversationAnswer: conversationAnswer,
  ConversationTurn: conversationTurn,
  CreateRun: createRun,
  DebugBundle: debugBundle,
  Discovery: discovery,
  ErrorEnvelope: errorEnvelope,
  EventsAnswer: eventsAnswer,
  ExternalAnswer: externalAnswer,
  InboxChange: inboxChange,
  InboxEntry: inboxEntry,
  InboxPage: inboxPage,
  InstalledPack: installedPack,
  InstallPack: installPack,
  InterruptAnswered: interruptAnswered,
  InterruptCallback: interruptCallback,
  InterruptPayload: interruptPayload,
  InterruptResolved: interruptResolved,
  InterruptToken: interruptToken,
  MintInterruptToken: mintInterruptToken,
  NodeTypeDescriptor: nodeTypeDescriptor,
  NodeTypeList: nodeTypeList,
  OpenInterrupt: openInterrupt,
  OpenInterrupts: openInterrupts,
  PackFileList: packFileList,
  PackList: packList,
  PackManifest: packManifest,
  PackSignature: packSignature,
  PauseRun: pauseRun,
  PendingInterrupts: pendingInterrupts,
  PollAnswer: pollAnswer,
  RegisterWebhook: registerWebhook,
  ResumeRun: resumeRun,
  RunCancelled: runCancelled,
  RunCreated: runCreated,
  RunEventDoc: runEventDoc,
  RunList: runList,
  RunOptions: runOptions,
  RunPaused: runPaused,
  RunResumed: runResumed,
  RunsCancelled: runsCancelled,
  RunSnapshot: runSnapshotSchema,
  ToolDescriptor: toolDescriptor,
  ToolList: toolList,
  Webhook: webhook,
  WebhookDelivery: webhookDelivery,
  WebhookList: webhookList,
  WebhookRegistered: webhookRegistered,
  WorkflowDefinition: workflowDefinition,
  WorkflowRegistered: workflowRegistered,
} as const satisfies Record<string, z.ZodType>;

export type ShapeName = keyof typeof shapes;
export const shapeNames = Object.keys(shapes) as readonly ShapeName[];

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The JSON Schema (2020-12) of one shape, by name. */
export const shapeSchema = (name: ShapeName): JsonSchema => z.toJSONSchema(shapes[name], options);

/** The JSON Schema of the payload of one event type. */
export const payloadSchema = (type: EventType): JsonSchema => z.toJSONSchema(eventPayloads[type], options);

/** Refinements have no counterpart in JSON Schema; the parser still applies them. */
const options = { target: 'draft-2020-12', unrepresentable: 'any' } as const;
