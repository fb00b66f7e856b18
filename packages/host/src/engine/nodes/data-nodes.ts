/** Nodes that read and write a run's variables and channels. */
import {
  type ChannelDeclaration,
  channelDeclaration,
  isJsonObject,
  isoTime,
  type Json,
  type JsonObject,
  quoted,
  row,
  type WorkflowNode,
} from '@cairn/protocol';
import { z } from 'zod';
import { scopeOf } from '../core/scope.ts';
import type { RunError } from '../core/state.ts';
import { variableChanged } from '../core/variable-changed.ts';
import { refusePlain } from '../sensitive/refuse-plain.ts';
import { mayWrite } from '../values/channel-access.ts';
import { schemaProblems } from '../values/schemas.ts';
import { agentSharing, groupIdOf } from '../workflow/agent-sharing.ts';
import { type ConfiguredNode, defineNodeType, type Problem } from '../workflow/node-type.ts';
import { isReservedName } from '../workflow/reserved-names.ts';
import { anyJson, expression, renamed, text } from './config-fields.ts';

/** Uses the older name when `name` has no value. */
const byName = (config: JsonObject): JsonObject => ({ ...config, name: config.name ?? config.variableName ?? null });

const variable = {
  name: z
    .string('must be the name of a variable')
    .min(1, 'must be the name of a variable')
    .describe('The name of a variable.'),
  variableName: anyJson.optional().describe('Another name for `name`.'),
};

function nameProblems({ config: { name }, definition }: ConfiguredNode<{ readonly name: string }>): Problem[] {
  const path = ['config', 'name'];
  if (isReservedName(name)) return [{ path, message: `the variable name ${name} is reserved` }];
  if (definition.channels?.[name] === undefined) return [];
  return [{ path, message: `${name} is a channel; write it with core.channelWrite` }];
}

export const setVariable = defineNodeType({
  typeId: 'core.setVariable',
  config: renamed(
    byName,
    z.strictObject({ ...variable, expression: expression.optional(), value: anyJson.optional() }),
  ),
  onceIgnored: ['expression'],
  expressions: ['expression'],
  variables: ({ name }) => ({ sets: [name] }),
  check(checked) {
    const { config, node } = checked;
    const isSaid = config.expression !== undefined || config.value !== undefined || node.inputs.value !== undefined;
    const message = 'it, config.expression or the input value must say what to set';
    return [...nameProblems(checked), ...(isSaid ? [] : [{ path: ['config', 'value'], message }])];
  },
  begin(context) {
    const { node, config, inputs, state, expressionBudget } = context;
    const { name } = config;
    const previous = state.view.variables[name];
    const computed = config.expression?.evaluate(scopeOf(context, inputs), expressionBudget);
    const next = computed ?? inputs.value ?? config.value ?? null;
    refusePlain(context, name, next);
    const changed = variableChanged(node.id, { name, previous, next });
    return { kind: 'complete', outputs: { value: next }, drafts: [changed] };
  },
});

export const getVariable = defineNodeType({
  typeId: 'core.getVariable',
  variables: ({ name }) => ({ reads: [name] }),
  config: renamed(byName, z.strictObject(variable)),
  check: nameProblems,
  begin: ({ config, state }) => ({ kind: 'complete', outputs: { value: state.view.variables[config.name] ?? null } }),
});

export const channelWrite = defineNodeType({
  typeId: 'core.channelWrite',
  config: z.strictObject({
    channelName: text.max(256),
    reducer: channelDeclaration.shape.reducer.optional(),
    ttlMs: channelDeclaration.shape.ttlMs,
    value: anyJson.optional(),
    agentSharing: agentSharing.optional(),
  }),
  channel: ({ channelName: name, reducer = 'replace', ttlMs }) => ({
    name,
    reducer,
    ...(ttlMs === undefined ? {} : { ttlMs }),
  }),
  check({ config, node, definition }) {
    const { channelName: name } = config;
    const problems: Problem[] = [];
    const path = ['config', 'channelName'];
    if (isReservedName(name)) problems.push({ path, message: `the channel name ${name} is reserved` });
    else if (definition.variables.some((variable) => variable.name === name)) {
      problems.push({ path, message: `${name} is a variable; it cannot be a channel too` });
    }
    if (config.value === undefined && node.inputs.value === undefined) {
      problems.push({ path: ['config', 'value'], message: 'it or the input value must say what to write' });
    }
    return problems;
  },
  begin({ node, config, inputs, now, compiled }) {
    const { channelName: channel } = config;
    const value = inputs.value ?? config.value ?? null;
    const declared = compiled.definition.channels?.[channel];
    // The channel's declaration takes precedence over the node's config.
    const reducer = declared?.reducer ?? config.reducer ?? 'replace';
    const sharing = declared?.options?.agentSharing ?? config.agentSharing;
    const refusal =
      (declared === undefined ? null : refused(node, channel, value, declared)) ??
      (reducer === 'message' ? notAMessage(node, channel, value) : null) ??
      (reducer === 'message' ? outsideGroup(node, channel, value, groupIdOf(sharing)) : null);
    if (refusal !== null) return { kind: 'fail', error: { ...refusal, retryable: false } };
    const schemaVersion = declared?.schemaVersion;
    const payload = {
      channel,
      value,
      reducer,
      writtenAt: isoTime(now),
      nodeId: node.id,
      ...(schemaVersion === undefined ? {} : { schemaVersion }),
    };
    const written = row('channel.written', payload, { nodeId: node.id });
    return { kind: 'complete', outputs: { value }, drafts: [written] };
  },
});

/** The schema describes the channel's whole value. A write is checked only when it replaces that value. */
function refused(node: WorkflowNode, channel: string, value: Json, declared: ChannelDeclaration): RunError | null {
  if (!mayWrite(declared, node)) {
    return { code: 'channel_access_denied', message: `Node ${node.id} may not write the channel ${channel}.` };
  }
  if (declared.reducer !== 'replace' || declared.schema === undefined) return null;
  const problems = schemaProblems(declared.schema, value);
  if (problems.length === 0) return null;
  const message = `Node ${node.id} may not write this value to the channel ${channel}: ${problems.join('; ')}.`;
  return { code: 'config_validation_failed', message };
}

/** A ConversationMessage (RFC 0002 §G). Further fields are allowed. */
const conversationMessage = z.looseObject({
  messageId: z.string().min(1).max(256),
  from: z.string().min(1).max(256),
  to: z.string().max(256).optional(),
  content: z.json(),
  ts: z.int().min(0),
});

/** Without its fields, a message could neither be told from its repetition nor be put in order. */
function notAMessage(node: WorkflowNode, channel: string, value: Json): RunError | null {
  const parsed = conversationMessage.safeParse(value);
  if (parsed.success) return null;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the message'}: ${message}`);
  const message = `Node ${node.id} may not write this message to the channel ${channel}: ${problems.join('; ')}. A message has messageId, from, content and ts, in milliseconds.`;
  return { code: 'config_validation_failed', message, details: { channel, problems } };
}

/** Messages of a group stay in the group, so each one must carry its groupId. */
function outsideGroup(node: WorkflowNode, channel: string, value: Json, group: string | null): RunError | null {
  if (group === null) return null;
  const groupId = isJsonObject(value) ? value.groupId : undefined;
  if (groupId === group) return null;
  const found = groupId === undefined ? 'has no groupId' : `has the groupId ${quoted(JSON.stringify(groupId), 140)}`;
  const message = `Node ${node.id} may not write this message to the channel ${channel}: it ${found}, and the conversation is that of the group ${group}.`;
  return { code: 'config_validation_failed', message, details: { channel, groupId: group } };
}
