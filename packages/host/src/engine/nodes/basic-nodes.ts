/** Nodes that complete as soon as they start, and `core.delay`, which waits for a timer. */
import { type ErrorCode, isoTime, type Json, type JsonObject, payloadId, row } from '@cairn/protocol';
import { z } from 'zod';
import type { Draft } from '../core/state.ts';
import { MAX_SPAN_MS } from '../workflow/node-settings.ts';
import { defineNodeType, type NodeContext } from '../workflow/node-type.ts';
import { anyJson, noConfig, renamed, unread } from './config-fields.ts';
import { passedOn } from './values.ts';

const nothing: JsonObject = {};

export const noop = defineNodeType({
  typeId: 'core.noop',
  config: z.strictObject({ nondeterministic: unread, phase4Probe: unread }),
  begin: () => ({ kind: 'complete', outputs: nothing }),
});

/** Returns its inputs as outputs. */
export const identity = defineNodeType({
  typeId: 'core.identity',
  config: z.strictObject({
    emitDuplicateMessageId: z.boolean().optional(),
    memoryAction: unread,
    probeMemoryRef: unread,
    byokSecretId: unread,
  }),
  onceIgnored: ['emitDuplicateMessageId'],
  begin(context) {
    const outputs = passedOn(context.inputs);
    if (context.config.emitDuplicateMessageId !== true) return { kind: 'complete', outputs };
    return { kind: 'complete', outputs, drafts: sameMessageTwice(context) };
  },
});

/** Writes the same message twice. A channel with the `message` reducer must keep it once. */
function sameMessageTwice({ node, now, state }: NodeContext): Draft[] {
  const value = {
    messageId: payloadId(state.view.idToken, 'msg', node.id),
    from: node.id,
    content: 'duplicate',
    ts: now,
  };
  const payload = { channel: 'messages', value, reducer: 'message', writtenAt: isoTime(now), nodeId: node.id };
  const write = row('channel.written', payload, { nodeId: node.id });
  return [write, write];
}

export const start = defineNodeType({
  typeId: 'core.start',
  config: noConfig,
  begin: ({ state }) => ({ kind: 'complete', outputs: state.view.inputs ?? nothing }),
});

/** Its inputs become the run's outputs. */
export const end = defineNodeType({
  typeId: 'core.end',
  config: noConfig,
  begin: ({ inputs }) => ({ kind: 'complete', outputs: passedOn(inputs) }),
});

export const parallel = defineNodeType({
  typeId: 'core.parallel',
  config: noConfig,
  begin: ({ inputs }) => ({ kind: 'complete', outputs: passedOn(inputs) }),
});

/** Returns the outputs of the nodes that triggered it, by node id. */
export const merge = defineNodeType({
  typeId: 'core.merge',
  config: noConfig,
  begin({ sources, state }) {
    const inputs = Object.fromEntries(sources.map((source) => [source, state.outputs[source] ?? nothing]));
    return { kind: 'complete', outputs: { inputs } };
  },
});

export const failing = defineNodeType({
  typeId: 'core.fail',
  config: z.strictObject({
    code: z.string().optional(),
    message: z.string().optional(),
    retryable: z.boolean().optional(),
  }),
  onceIgnored: ['retryable'],
  begin: ({ config }) => ({
    kind: 'fail',
    error: {
      // A workflow may fail with a custom code; the engine does not act on it. An event has no empty code or message.
      code: (config.code || 'conformance_test_failure') as ErrorCode,
      message: config.message || 'Intentional conformance failure',
      retryable: config.retryable === true,
    },
  }),
});

const delayNames = ['delayMs', 'ms', 'durationMs'] as const;

/** Uses the first name that has a value and ignores the others. */
const byOneName = (config: JsonObject): JsonObject => {
  const given = delayNames.map((name) => config[name]).find((value) => value !== undefined);
  return given === undefined ? config : { ...config, delayMs: given };
};

const delayMs = z.number().min(0).max(MAX_SPAN_MS);

export const delay = defineNodeType({
  typeId: 'core.delay',
  config: renamed(
    byOneName,
    z.strictObject({ delayMs: delayMs.optional(), ms: anyJson.optional(), durationMs: anyJson.optional() }),
  ),
  check: ({ config, node }) =>
    config.delayMs === undefined && node.inputs.delayMs === undefined
      ? [{ path: ['config', 'delayMs'], message: 'it or the input delayMs must say how long to wait' }]
      : [],
  begin({ node, config, inputs, visit, attempt, now, state }) {
    const wanted: Json | undefined = inputs.delayMs ?? config.delayMs;
    if (typeof wanted !== 'number' || wanted < 0 || wanted > MAX_SPAN_MS) {
      const message = `Node ${node.id} cannot wait ${JSON.stringify(wanted)} ms; it takes a number from 0 to ${MAX_SPAN_MS}.`;
      return { kind: 'fail', error: { code: 'config_validation_failed', message, retryable: false } };
    }
    if (wanted === 0) return { kind: 'complete', outputs: nothing };
    const timerId = payloadId(state.view.idToken, 'timer', `delay:${node.id}#${visit}.${attempt}`);
    const fireAt = isoTime(Math.ceil(now + wanted));
    const timer = row('cairn.timer.set', { timerId, purpose: 'delay', nodeId: node.id, fireAt }, { nodeId: node.id });
    return { kind: 'wait', drafts: [timer] };
  },
  fired: () => ({ kind: 'complete', outputs: nothing }),
});
