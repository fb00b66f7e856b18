/** The JSON Schemas of all public shapes, generated from the zod definitions. */
import { z } from 'zod';
import { agentInventory, agentInventoryEntry } from './agents/agent-inventory.ts';
import { agentManifest } from './agents/agent-manifest.ts';
import { agentRef } from './agents/agent-ref.ts';
import { packManifest } from './agents/pack-manifest.ts';
import { installedPack, installPack, packFileList, packList, packSignature } from './agents/packs.ts';
import { toolDescriptor, toolList } from './agents/tools.ts';
import { errorEnvelope } from './error-envelope.ts';
import { type EventType, eventPayloads } from './events/catalogue.ts';
import { runEventDoc } from './events/run-event-doc.ts';
import { discovery } from './host/discovery.ts';
import {
  callbackSecret,
  registerWebhook,
  webhook,
  webhookDelivery,
  webhookList,
  webhookRegistered,
} from './host/webhooks.ts';
import { conversationAnswer, conversationTurn } from './interrupts/conversation.ts';
import { inboxChange, inboxEntry, inboxPage } from './interrupts/inbox.ts';
import { interruptPayload } from './interrupts/interrupts.ts';
import {
  interruptCallback,
  interruptResolved,
  interruptToken,
  mintInterruptToken,
  openInterrupt,
  openInterrupts,
  pendingInterrupts,
} from './interrupts/open-interrupts.ts';
import { approvalAnswer, clarificationAnswer, externalAnswer } from './interrupts/resume-values.ts';
import { createRun, runCreated } from './runs/create-run.ts';
import { debugBundle } from './runs/debug-bundle.ts';
import { nodeTypeDescriptor, nodeTypeList } from './runs/node-types.ts';
import { eventsAnswer, pollAnswer } from './runs/poll.ts';
import {
  answerInterrupt,
  bulkCancelRuns,
  cancelRun,
  interruptAnswered,
  pauseRun,
  resumeRun,
  retentionPlan,
  runCancelled,
  runList,
  runPaused,
  runPurged,
  runResumed,
  runsCancelled,
  workflowRegistered,
} from './runs/requests.ts';
import { runDiff } from './runs/run-diff.ts';
import { runOptions } from './runs/run-options.ts';
import { runSnapshotSchema } from './runs/run-snapshot.ts';
import { authoredWorkflow, workflowDefinition } from './runs/workflow-definition.ts';

const shapes = {
  AgentInventory: agentInventory,
  AgentInventoryEntry: agentInventoryEntry,
  AgentManifest: agentManifest,
  AgentRef: agentRef,
  AnswerInterrupt: answerInterrupt,
  ApprovalAnswer: approvalAnswer,
  AuthoredWorkflow: authoredWorkflow,
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
  RetentionPlan: retentionPlan,
  RunPurged: runPurged,
  RunCancelled: runCancelled,
  RunCreated: runCreated,
  RunDiff: runDiff,
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
