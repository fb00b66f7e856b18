/** The nodes that wait for an answer: an approval, a clarification, an outside event, or a question of one's own. */
import { type InterruptKind, interruptData, type Json, type JsonObject, type WorkflowNode } from '@cairn/protocol';
import { askDrafts } from '../core/interrupts.ts';
import type { Answer } from '../core/state.ts';
import { compileSchema } from '../values/schemas.ts';
import { MAX_SPAN_MS } from '../workflow/node-settings.ts';
import type { NodeAction, NodeContext, NodeType } from '../workflow/node-type.ts';
import { asOutputs, passedOn } from './values.ts';

interface GateQuestion {
  readonly kind: string;
  readonly data: JsonObject;
}

/** What the node asks, from its configuration and its inputs. */
type Ask = (node: WorkflowNode, inputs: JsonObject) => GateQuestion;

const approvalFields = [
  'description',
  'requiredApprovals',
  'approversList',
  'rejectionPolicy',
  'overrideBypassesQuorum',
  'approverGroupRefs',
  'approverRoleRefs',
  'audience',
] as const;

const askApproval: Ask = (node, inputs) => {
  const { config } = node;
  const actions = Array.isArray(config.actions) ? config.actions : ['accept', 'reject'];
  const data: Record<string, Json> = {
    artifactId: config.artifactId ?? node.id,
    artifactType: config.artifactType ?? node.artifactType ?? 'approval',
    title: config.title ?? node.name,
    actions: actions.map((action) => (action === 'edit' ? 'edit-accept' : (action as Json))),
  };
  for (const name of approvalFields) {
    const value = config[name];
    if (value !== undefined) data[name] = value;
  }
  const artifact = inputs.artifactData ?? config.artifactData ?? (hasKeys(inputs) ? passedOn(inputs) : undefined);
  if (artifact !== undefined) data.artifactData = artifact;
  return { kind: 'approval', data };
};

const askClarification: Ask = ({ config }) => {
  const data: Record<string, Json> = { questions: config.questions ?? [] };
  if (config.contextType !== undefined) data.contextType = config.contextType;
  return { kind: 'clarification', data };
};

const askAnything: Ask = ({ config }) => ({
  kind: typeof config.kind === 'string' ? config.kind : '',
  data: (config.data ?? {}) as JsonObject,
});

const hasKeys = (object: JsonObject): boolean => Object.keys(object).length > 0;

/** Kinds that need nothing but somebody to answer; the others belong to agents and conversations. */
const answerable = ['approval', 'clarification', 'external-event', 'custom'];

function gate(typeId: string, ask: Ask): NodeType {
  return {
    typeId,
    check: (node) => gateProblems(node, ask(node, {})),
    begin(context) {
      const { node, state, inputs } = context;
      const { timeoutMs, resumeSchema } = node.config;
      const question = {
        nodeId: node.id,
        ...ask(node, inputs),
        timeoutMs: timeoutMs as number | undefined,
        resumeSchema: resumeSchema as JsonObject | undefined,
      };
      return { kind: 'wait', drafts: askDrafts(state, question) };
    },
    resume: resumeGate,
  };
}

export const approvalGate = gate('core.approvalGate', askApproval);
export const clarificationGate = gate('core.clarificationGate', askClarification);
export const interrupt = gate('core.interrupt', askAnything);

function gateProblems({ config }: WorkflowNode, { kind, data }: GateQuestion): string[] {
  if (!answerable.includes(kind)) return [`config.kind must be one of ${answerable.join(', ')}`];
  const problems: string[] = [];
  const parsed = interruptData[kind as InterruptKind].safeParse(data);
  for (const issue of parsed.error?.issues ?? [])
    problems.push(`${['data', ...issue.path].join('.')}: ${issue.message}`);
  const { timeoutMs, resumeSchema } = config;
  const span =
    typeof timeoutMs === 'number' && Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_SPAN_MS;
  if (timeoutMs !== undefined && !span)
    problems.push(`config.timeoutMs must be a whole number from 1 to ${MAX_SPAN_MS}`);
  if (resumeSchema !== undefined) problems.push(...schemaProblems(resumeSchema, 'config.resumeSchema'));
  if (kind === 'clarification' && parsed.success)
    problems.push(...questionProblems(data.questions as readonly JsonObject[]));
  return problems;
}

function questionProblems(questions: readonly JsonObject[]): string[] {
  const ids = questions.map((question) => question.id as string);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  const schemas = questions.flatMap(({ id, schema }) =>
    schema === undefined ? [] : schemaProblems(schema, `the schema of question ${id}`),
  );
  return [...twice.map((id) => `question ${id} is there twice`), ...schemas];
}

export function schemaProblems(schema: Json, what: string): string[] {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return [`${what} must be an object`];
  try {
    compileSchema(schema as JsonObject);
    return [];
  } catch (error) {
    return [`${what}: ${(error as Error).message}`];
  }
}

function resumeGate(context: NodeContext, { kind, value, timedOut }: Answer): NodeAction {
  const { node } = context;
  if (timedOut) {
    const code = kind === 'approval' ? 'approval_timeout' : 'interrupt_timeout';
    const message = `Nobody answered node ${node.id} within ${node.config.timeoutMs} ms.`;
    return { kind: 'fail', error: { code, message, retryable: false } };
  }
  if (kind !== 'approval') return { kind: 'complete', outputs: asOutputs(value) };
  return approved(context, value as JsonObject);
}

/** Accepted goes on by `output` and `approved`; a rejection or a wish to refine by its own port where an edge leaves by it. */
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
