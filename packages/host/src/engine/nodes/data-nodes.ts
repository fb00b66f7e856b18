/** The nodes that read and write what a run remembers: its variables and channels. */
import {
  type ChannelDeclaration,
  channelDeclaration,
  isoTime,
  type Json,
  type JsonObject,
  quoted,
  type WorkflowDefinition,
  type WorkflowNode,
} from '@cairn/protocol';
import { scopeOf } from '../core/scope.ts';
import type { RunError, RunState } from '../core/state.ts';
import { compileExpression } from '../values/expressions.ts';
import { compileSchema } from '../values/schemas.ts';
import { groupIdOf, sharingProblems } from '../workflow/agent-sharing.ts';
import type { NodeType } from '../workflow/node-type.ts';

const variableName = ({ config }: WorkflowNode): Json | undefined => config.name ?? config.variableName;

function nameProblems(node: WorkflowNode, definition: WorkflowDefinition): string[] {
  const name = variableName(node);
  if (typeof name !== 'string' || name === '') return ['config.name must be the name of a variable'];
  if (name in {}) return [`the variable name ${name} is reserved`];
  return definition.channels?.[name] === undefined ? [] : [`${name} is a channel; write it with core.channelWrite`];
}

export const setVariable: NodeType = {
  typeId: 'core.setVariable',
  check(node, definition) {
    const problems = nameProblems(node, definition);
    const { expression, value } = node.config;
    if (typeof expression === 'string') {
      try {
        compileExpression(expression);
      } catch (error) {
        problems.push(`config.expression: ${(error as Error).message}`);
      }
    } else if (value === undefined && node.inputs.value === undefined) {
      problems.push('config.value, config.expression or the input value must say what to set');
    }
    return problems;
  },
  prepare({ config }) {
    if (typeof config.expression !== 'string') return null;
    const expression = compileExpression(config.expression);
    return (scope) => expression.evaluate(scope);
  },
  begin({ node, inputs, compiled, state }) {
    const name = variableName(node) as string;
    const previous = state.view.variables[name];
    const computed = compiled.program?.(scopeOf(state as RunState, inputs));
    const next = computed ?? inputs.value ?? node.config.value ?? null;
    const payload = { name, ...(previous === undefined ? {} : { previous }), next, nodeId: node.id };
    const draft = { type: 'variable.changed', nodeId: node.id, audience: 'client' as const, payload };
    return { kind: 'complete', outputs: { value: next }, drafts: [draft] };
  },
};

export const getVariable: NodeType = {
  typeId: 'core.getVariable',
  check: nameProblems,
  begin: ({ node, state }) => ({
    kind: 'complete',
    outputs: { value: state.view.variables[variableName(node) as string] ?? null },
  }),
};

export const channelWrite: NodeType = {
  typeId: 'core.channelWrite',
  check({ config, inputs }, definition) {
    const problems: string[] = [];
    const name = config.channelName;
    if (typeof name !== 'string' || name === '' || name.length > 256)
      problems.push('config.channelName must be a name');
    else if (name in {}) problems.push(`the channel name ${name} is reserved`);
    else if (definition.variables.some((variable) => variable.name === name)) {
      problems.push(`${name} is a variable; it cannot be a channel too`);
    }
    if (config.reducer !== undefined && !channelDeclaration.shape.reducer.safeParse(config.reducer).success) {
      problems.push(`config.reducer ${JSON.stringify(config.reducer)} is not known`);
    }
    if (config.ttlMs !== undefined && !channelDeclaration.shape.ttlMs.safeParse(config.ttlMs).success) {
      problems.push('config.ttlMs must be a whole number of milliseconds, at most a year');
    }
    if (config.value === undefined && inputs.value === undefined) {
      problems.push('config.value or the input value must say what to write');
    }
    return [...problems, ...sharingProblems(config.agentSharing, 'config.agentSharing')];
  },
  begin({ node, inputs, now, compiled }) {
    const channel = node.config.channelName as string;
    const value = inputs.value ?? node.config.value ?? null;
    const declared = compiled.definition.channels?.[channel];
    // The declaration wins over what a node that writes the channel says.
    const reducer = declared?.reducer ?? ((node.config.reducer ?? 'replace') as string);
    const sharing = declared?.options?.agentSharing ?? node.config.agentSharing;
    const refusal =
      (declared === undefined ? null : refused(node, channel, value, declared)) ??
      (reducer === 'message' ? outsideGroup(node, channel, value, groupIdOf(sharing)) : null);
    if (refusal !== null) return { kind: 'fail', error: { ...refusal, retryable: false } };
    const payload: Record<string, Json> = {
      channel,
      value,
      reducer,
      writtenAt: isoTime(now),
      nodeId: node.id,
    };
    if (declared?.schemaVersion !== undefined) payload.schemaVersion = declared.schemaVersion;
    const draft = { type: 'channel.written', nodeId: node.id, audience: 'client' as const, payload };
    return { kind: 'complete', outputs: { value }, drafts: [draft] };
  },
};

/** A schema describes the channel's value; only where a write is that whole value can the write itself be checked. */
function refused(node: WorkflowNode, channel: string, value: Json, declared: ChannelDeclaration): RunError | null {
  const { access } = declared;
  if (typeof access === 'object' && access.writers !== undefined) {
    if (!access.writers.includes(node.id) && !access.writers.includes(node.typeId)) {
      return { code: 'channel_access_denied', message: `Node ${node.id} may not write the channel ${channel}.` };
    }
  }
  if (declared.reducer !== 'replace' || declared.schema === undefined) return null;
  const problems = compileSchema(declared.schema as JsonObject)(value);
  if (problems.length === 0) return null;
  const message = `Node ${node.id} may not write this value to the channel ${channel}: ${problems.join('; ')}.`;
  return { code: 'config_validation_failed', message };
}

/** What a group says stays in it, so that each of its messages must say whose it is. */
function outsideGroup(node: WorkflowNode, channel: string, value: Json, group: string | null): RunError | null {
  if (group === null) return null;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const groupId = isObject ? (value as JsonObject).groupId : undefined;
  if (groupId === group) return null;
  const found = groupId === undefined ? 'has no groupId' : `has the groupId ${quoted(JSON.stringify(groupId), 140)}`;
  const message = `Node ${node.id} may not write this message to the channel ${channel}: it ${found}, and the conversation is that of the group ${group}.`;
  return { code: 'config_validation_failed', message, details: { channel, groupId: group } };
}
