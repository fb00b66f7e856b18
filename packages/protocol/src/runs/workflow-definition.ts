/** WorkflowDefinition: the graph a run executes, as clients register it (closed shape, one definition for type, parser and schema). */
import { z } from 'zod';
import { agentRef } from '../agents/agent-ref.ts';
import type { DataOf } from '../data-of.ts';
import { json } from '../fields.ts';
import { parseShape } from '../parse.ts';

const open = z.record(z.string(), json);
const position = z.looseObject({ x: z.number(), y: z.number() });

export const portValue = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('static'), value: json }),
    z.strictObject({ type: z.literal('expression'), expression: z.string().min(1) }),
    z.strictObject({
      type: z.literal('connection'),
      nodeId: z.string().min(1),
      outputKey: z.string().min(1),
      optional: z.boolean().optional(),
    }),
    z.strictObject({
      type: z.literal('variable'),
      variableName: z.string().min(1),
      optional: z.boolean().optional(),
    }),
  ])
  .meta({ id: 'PortValue' });

export const workflowNode = z
  .strictObject({
    id: z.string().min(1).max(128),
    typeId: z
      .string()
      .min(1)
      .regex(/^[a-z][a-zA-Z0-9._-]*$/),
    name: z.string().min(1),
    position,
    config: open,
    inputs: z.record(z.string(), portValue),
    credentialsRef: z.string().optional(),
    settings: open.optional(),
    outputRole: z.enum(['primary', 'secondary']).optional(),
    disabled: z.boolean().optional(),
    notes: z.string().optional(),
    groupId: z.string().optional(),
    agent: agentRef.optional(),
    envelopeContract: open.optional(),
    artifactType: z.string().optional(),
    cardType: z.string().optional(),
    outputSensitivity: z.record(z.string(), z.boolean()).optional(),
  })
  .meta({ id: 'WorkflowNode' });

export const triggerRules = ['all_success', 'any_success', 'all_complete', 'none_failed', 'any_failed'] as const;
export type TriggerRule = (typeof triggerRules)[number];

export const edgeCondition = z
  .strictObject({
    type: z.enum(['expression', 'equals', 'notEquals', 'contains', 'regex']).optional(),
    left: z.string().optional(),
    right: json.optional(),
    expression: z.string().optional(),
  })
  .meta({ id: 'EdgeCondition' });

export const workflowEdge = z
  .strictObject({
    id: z.string().min(1),
    sourceNodeId: z.string().min(1),
    sourceOutput: z.string().optional(),
    targetNodeId: z.string().min(1),
    targetInput: z.string().optional(),
    condition: edgeCondition.optional(),
    label: z.string().optional(),
    triggerRule: z.enum(triggerRules).optional(),
  })
  .meta({ id: 'WorkflowEdge' });

export const workflowVariable = z
  .strictObject({
    name: z.string().min(1),
    type: z.enum(['string', 'number', 'boolean', 'object', 'array']),
    description: z.string().optional(),
    required: z.boolean().optional(),
    defaultValue: json.optional(),
    sensitive: z.boolean().optional(),
  })
  .meta({ id: 'WorkflowVariable' });

export const channelReducerName = z
  .string()
  .regex(/^(replace|append|merge|counter|votes|feedback|message|vendor\.[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*)$/);

export const channelDeclaration = z
  .strictObject({
    reducer: channelReducerName,
    schema: open.optional(),
    schemaVersion: z.int().min(1).optional(),
    compatibleWith: z.array(z.int().min(1)).optional(),
    default: json.optional(),
    maxSize: z.int().min(1).optional(),
    ttlMs: z.int().min(1).max(31_536_000_000).optional(),
    options: open.optional(),
    access: z
      .union([
        z.enum(['public', 'private']),
        z.strictObject({ readers: z.array(z.string()).optional(), writers: z.array(z.string()).optional() }),
      ])
      .optional(),
    sensitive: z.boolean().optional(),
  })
  .meta({ id: 'ChannelDeclaration' });

const trigger = z
  .strictObject({
    id: z.string().min(1),
    type: z.enum([
      'manual',
      'schedule',
      'webhook',
      'event',
      'artifact',
      'canvas',
      'envelope',
      'command',
      'chat-message',
      'channel-write',
    ]),
    name: z.string().optional(),
    description: z.string().optional(),
    config: open.optional(),
    enabled: z.boolean().optional(),
    nodeId: z.string().optional(),
    eventType: z.string().optional(),
  })
  .meta({ id: 'WorkflowTrigger' });

const group = z.strictObject({
  id: z.string().min(1),
  name: z.string().min(1),
  color: z.string().optional(),
  collapsed: z.boolean().optional(),
  nodeIds: z.array(z.string()),
  position,
  size: z.looseObject({ width: z.number(), height: z.number() }),
});

/** Limits of a run that a definition may set; other settings pass through untouched. */
export const workflowSettings = z
  .looseObject({
    /** Milliseconds for the whole run; 0 means no limit. */
    timeout: z.number().min(0).optional(),
    /** Attempts after the first, for every node that does not say otherwise. */
    maxRetries: z.int().min(0).optional(),
    maxLoopbackIterations: z.int().min(0).optional(),
  })
  .meta({ id: 'WorkflowSettings' });

export const workflowDefinition = z
  .strictObject({
    id: z
      .string()
      .min(1)
      .max(128)
      .regex(/^[a-z][a-z0-9_-]*$/, 'must begin with a lower-case letter, and hold only those, digits, - and _'),
    name: z.string().min(1).max(256),
    version: z.string().min(1),
    description: z.string().optional(),
    type: z.string().optional(),
    isActive: z.boolean().optional(),
    status: z.enum(['active', 'inactive', 'draft', 'archived']).optional(),
    tenantId: z.string().optional(),
    scopeId: z.string().optional(),
    slug: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]*$/)
      .optional(),
    nodes: z.array(workflowNode).min(1),
    edges: z.array(workflowEdge),
    triggers: z.array(trigger),
    variables: z.array(workflowVariable),
    groups: z.array(group).optional(),
    channels: z.record(z.string(), channelDeclaration).optional(),
    configurableSchema: open.optional(),
    defaults: z.strictObject({ promptRefs: open.optional() }).optional(),
    metadata: open,
    settings: workflowSettings,
    acceptsInheritedArtifacts: z.array(open).optional(),
    createdAt: z.iso.datetime({ offset: true }).optional(),
    updatedAt: z.iso.datetime({ offset: true }).optional(),
  })
  .meta({ id: 'WorkflowDefinition' });

/** A definition as an author writes it. Without a `version`, registration derives one from the content. */
export const authoredWorkflow = workflowDefinition
  // Lists of workflows, and every run, have the version in full.
  .extend({ version: z.string().min(1).max(128).optional() })
  .meta({ id: 'AuthoredWorkflow' });

export type PortValue = DataOf<typeof portValue>;
export type EdgeCondition = DataOf<typeof edgeCondition>;
export type WorkflowNode = DataOf<typeof workflowNode>;
export type WorkflowEdge = DataOf<typeof workflowEdge>;
export type WorkflowVariable = DataOf<typeof workflowVariable>;
export type ChannelDeclaration = DataOf<typeof channelDeclaration>;
export type WorkflowSettings = DataOf<typeof workflowSettings>;
export type WorkflowDefinition = DataOf<typeof workflowDefinition>;
export type AuthoredWorkflow = DataOf<typeof authoredWorkflow>;

export const parseWorkflowDefinition = (value: unknown): WorkflowDefinition =>
  parseShape(workflowDefinition, value, 'The workflow definition');

export const parseAuthoredWorkflow = (value: unknown): AuthoredWorkflow =>
  parseShape(authoredWorkflow, value, 'The workflow definition');
