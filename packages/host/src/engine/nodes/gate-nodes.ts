/** Nodes that wait for an answer: an approval, a clarification, an external event, or a custom question. */
import {
  approvalActions,
  type InterruptKind,
  interruptData,
  isJsonObject,
  type Json,
  type JsonObject,
  type WorkflowNode,
} from '@cairn/protocol';
import { z } from 'zod';
import { rejectedError } from '../core/answers/rejection.ts';
import { askDrafts } from '../core/interrupts.ts';
import type { Answer } from '../core/state.ts';
import { openButForTypos } from '../workflow/closed-shapes.ts';
import { shapeProblems } from '../workflow/node-config.ts';
import { defineNodeType, type NodeAction, type NodeContext, type Problem } from '../workflow/node-type.ts';
import { anyJson, jsonSchema, schemaProblem, unread, waitMs } from './config-fields.ts';
import { asOutputs, passedOn } from './values.ts';

/** The config fields of every gate. */
const waiting = { timeoutMs: waitMs.optional(), resumeSchema: jsonSchema.optional() };

interface Waiting {
  readonly timeoutMs?: number | undefined;
  readonly resumeSchema?: JsonObject | undefined;
}

interface GateQuestion {
  readonly kind: InterruptKind;
  readonly data: JsonObject;
}

/** The parts in which gates differ: the config schema, and the question built from the config. */
interface Gate<TypeId extends string, Config extends Waiting, Written> {
  readonly typeId: TypeId;
  readonly config: z.ZodType<Config, Written>;
  readonly onceIgnored?: readonly string[];
  ask(gate: { readonly node: WorkflowNode; readonly config: Config; readonly inputs: JsonObject }): GateQuestion;
  check?(question: GateQuestion): readonly Problem[];
}

const gate = <const TypeId extends string, Config extends Waiting, Written>({
  typeId,
  config,
  onceIgnored = [],
  ask,
  check,
}: Gate<TypeId, Config, Written>) =>
  defineNodeType({
    typeId,
    config,
    onceIgnored,
    check: (checked) => check?.(ask({ ...checked, inputs: {} })) ?? [],
    begin(context) {
      const { timeoutMs, resumeSchema } = context.config;
      const question = { nodeId: context.node.id, ...ask(context), timeoutMs, resumeSchema };
      return { kind: 'wait', drafts: askDrafts(context.state, question) };
    },
    resume: resumeGate,
  });

const { artifactId, artifactType, title, actions: _, artifactData: __, ...others } = interruptData.approval.shape;

/** In the order in which they are recorded. */
const otherFields = [
  'description',
  'requiredApprovals',
  'approversList',
  'rejectionPolicy',
  'overrideBypassesQuorum',
  'approverGroupRefs',
  'approverRoleRefs',
  'audience',
] as const satisfies readonly (keyof typeof others)[];

export const approvalGate = gate({
  typeId: 'core.approvalGate',
  onceIgnored: ['actions'],
  config: z.strictObject({
    artifactId: artifactId.nullish(),
    artifactType: artifactType.nullish(),
    title: title.nullish(),
    actions: z
      .array(z.enum([...approvalActions, 'edit']))
      .min(1)
      .optional(),
    artifactData: anyJson.optional(),
    ...others,
    ...waiting,
    profile: unread,
  }),
  ask({ node, config, inputs }) {
    const { actions = ['accept', 'reject'] } = config;
    const data: Record<string, Json> = {
      artifactId: config.artifactId ?? node.id,
      artifactType: config.artifactType ?? node.artifactType ?? 'approval',
      title: config.title ?? node.name,
      actions: actions.map((action) => (action === 'edit' ? 'edit-accept' : action)),
    };
    // Taken from the definition: parsing changes the order of keys, and this value is recorded.
    for (const name of otherFields) {
      const value = node.config[name];
      if (value !== undefined) data[name] = value;
    }
    const artifact = inputs.artifactData ?? config.artifactData ?? subjectOf(node, inputs);
    if (artifact !== undefined) data.artifactData = artifact;
    return { kind: 'approval', data };
  },
  // The node supplies fields that the config omits, and those may be invalid too.
  check: ({ data }) => [...shapeProblems(interruptData.approval, data, ['config']), ...voterProblems(data)],
});

/** Gates that would be open to everyone against the author's will, and gates that could never open. */
function voterProblems(data: JsonObject): readonly Problem[] {
  const { approversList: people, requiredApprovals: needed } = data;
  const count = Array.isArray(people) ? new Set(people).size : 0;
  // By the protocol, an empty list is no list.
  if (count === 0) return groupProblems(data);
  if (typeof needed !== 'number' || needed <= count) return [];
  const message = `it names ${count} of the ${needed} people who must accept, so the gate could never open`;
  return [{ path: ['config', 'approversList'], message }];
}

/** This host knows no groups and no roles, so without a list of people everyone could decide. */
function groupProblems(data: JsonObject): readonly Problem[] {
  return (['approverGroupRefs', 'approverRoleRefs'] as const)
    .filter((name) => Array.isArray(data[name]) && data[name].length > 0)
    .map((name) => ({
      path: ['config', name],
      message: 'this host knows no groups and no roles; list the people in approversList',
    }));
}

/** What the gate is about: its own inputs if it has any, else what its edges bring. */
function subjectOf(node: WorkflowNode, inputs: JsonObject): JsonObject | undefined {
  const own = Object.entries(inputs).filter(([name]) => Object.hasOwn(node.inputs, name));
  const subject = own.length > 0 ? Object.fromEntries(own) : inputs;
  return Object.keys(subject).length > 0 ? passedOn(subject) : undefined;
}

type Questions = z.infer<typeof interruptData.clarification>;

/** Each question id must be unique, and its schema must compile. */
function checkQuestions({ questions }: Questions, context: z.RefinementCtx): void {
  const seen = new Set<string>();
  for (const [index, { id, schema }] of questions.entries()) {
    const report = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['questions', index, field], message });
    if (seen.has(id)) report('id', `question ${id} is there twice`);
    seen.add(id);
    const problem = schema === undefined ? null : schemaProblem(schema);
    if (problem !== null) report('schema', problem);
  }
}

export const clarificationGate = gate({
  typeId: 'core.clarificationGate',
  config: interruptData.clarification.extend(waiting).superRefine(checkQuestions),
  ask({ node: { config } }) {
    const data: Record<string, Json> = { questions: config.questions ?? [] };
    if (config.contextType !== undefined) data.contextType = config.contextType;
    return { kind: 'clarification', data };
  },
});

const interruptOf = <Kind extends InterruptKind, Data extends z.ZodType>(kind: Kind, data: Data) =>
  z.strictObject({ kind: z.literal(kind), data, ...waiting });

/** Supports the kinds that need only an answer. The other kinds belong to agents and conversations. */
export const interrupt = gate({
  typeId: 'core.interrupt',
  config: z.discriminatedUnion('kind', [
    interruptOf('approval', openButForTypos(interruptData.approval.shape)),
    interruptOf('clarification', interruptData.clarification.superRefine(checkQuestions)),
    interruptOf('external-event', interruptData['external-event']),
    interruptOf('custom', interruptData.custom),
  ]),
  ask: ({ node, config }) => ({ kind: config.kind, data: isJsonObject(node.config.data) ? node.config.data : {} }),
});

function resumeGate(context: NodeContext<Waiting>, { kind, value, timedOut, isRejected }: Answer): NodeAction {
  const { node, config } = context;
  if (timedOut) {
    const code = kind === 'approval' ? 'approval_timeout' : 'interrupt_timeout';
    const message = `Nobody answered node ${node.id} within ${config.timeoutMs} ms.`;
    return { kind: 'fail', error: { code, message, retryable: false } };
  }
  if (isRejected) return { kind: 'fail', error: rejectedError(value) };
  if (kind !== 'approval') return { kind: 'complete', outputs: asOutputs(value) };
  return approved(context, isJsonObject(value) ? value : {});
}

/** Acceptance activates `output` and `approved`. Rejection and refinement use their own port if it has an edge. */
function approved({ node, compiled }: NodeContext, answer: JsonObject): NodeAction {
  const leavesBy = (port: string) => compiled.out.some((edge) => edge.port === port);
  switch (answer.action) {
    case 'reject': {
      if (leavesBy('rejected'))
        return { kind: 'complete', outputs: { ...answer, approved: false }, ports: ['rejected'] };
      const by = answer.decidedBy === undefined ? '' : ` by ${answer.decidedBy}`;
      const message = `Node ${node.id} was rejected${by}.`;
      return { kind: 'fail', error: { code: 'approval_rejected', message, retryable: false } };
    }
    case 'refine': {
      const ports = [leavesBy('refined') ? 'refined' : 'output'];
      return { kind: 'complete', outputs: { ...answer, approved: false }, ports };
    }
    default:
      return { kind: 'complete', outputs: { ...answer, approved: true }, ports: ['output', 'approved'] };
  }
}
