/** The nodes that do their work in the moment they start, and the one that only waits for time. */
import { type ErrorCode, isoTime, type Json, type JsonObject, type WorkflowNode } from '@cairn/protocol';
import type { Draft } from '../core/state.ts';
import { MAX_SPAN_MS } from '../workflow/node-settings.ts';
import type { NodeContext, NodeType } from '../workflow/node-type.ts';
import { noProblems, passedOn } from './values.ts';

const nothing: JsonObject = {};

export const noop: NodeType = {
  typeId: 'core.noop',
  check: () => noProblems,
  begin: () => ({ kind: 'complete', outputs: nothing }),
};

/** Puts out what it gets. */
export const identity: NodeType = {
  typeId: 'core.identity',
  check: () => noProblems,
  begin(context) {
    const outputs = passedOn(context.inputs);
    if (context.node.config.emitDuplicateMessageId !== true) return { kind: 'complete', outputs };
    return { kind: 'complete', outputs, drafts: sameMessageTwice(context) };
  },
};

/** The same message written twice: a channel with the `message` reducer must end up holding it once. */
function sameMessageTwice({ node, runId, now }: NodeContext): Draft[] {
  const value = { messageId: `${runId}:${node.id}`, from: node.id, content: 'duplicate', ts: now };
  const payload = { channel: 'messages', value, reducer: 'message', writtenAt: isoTime(now), nodeId: node.id };
  const write: Draft = { type: 'channel.written', nodeId: node.id, audience: 'client', payload };
  return [write, write];
}

export const start: NodeType = {
  typeId: 'core.start',
  check: () => noProblems,
  begin: ({ state }) => ({ kind: 'complete', outputs: state.view.inputs ?? nothing }),
};

/** Its inputs are the run's outputs. */
export const end: NodeType = {
  typeId: 'core.end',
  check: () => noProblems,
  begin: ({ inputs }) => ({ kind: 'complete', outputs: passedOn(inputs) }),
};

export const parallel: NodeType = {
  typeId: 'core.parallel',
  check: () => noProblems,
  begin: ({ inputs }) => ({ kind: 'complete', outputs: passedOn(inputs) }),
};

/** Puts out, by node, the outputs of all whose edges brought the run here. */
export const merge: NodeType = {
  typeId: 'core.merge',
  check: () => noProblems,
  begin({ sources, state }) {
    const inputs = Object.fromEntries(sources.map((source) => [source, state.outputs[source] ?? nothing]));
    return { kind: 'complete', outputs: { inputs } };
  },
};

export const failing: NodeType = {
  typeId: 'core.fail',
  check: ({ config }) =>
    [config.code, config.message].some((text) => text !== undefined && typeof text !== 'string')
      ? ['config.code and config.message must be text']
      : noProblems,
  begin: ({ node: { config } }) => ({
    kind: 'fail',
    error: {
      // A workflow may fail with a code of its own; nothing here acts by it.
      code: (config.code ?? 'conformance_test_failure') as ErrorCode,
      message: (config.message ?? 'Intentional conformance failure') as string,
      retryable: config.retryable === true,
    },
  }),
};

export const requiresMissing: NodeType = {
  typeId: 'conformance.requiresMissing',
  missingCapability: 'conformance.never-provided',
  check: () => noProblems,
  begin: () => ({ kind: 'complete', outputs: nothing }),
};

const delayNames = ['delayMs', 'ms', 'durationMs'] as const;

const configuredDelay = ({ config }: WorkflowNode): Json | undefined =>
  delayNames.map((name) => config[name]).find((value) => value !== undefined);

const isDelay = (value: Json | undefined): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_SPAN_MS;

export const delay: NodeType = {
  typeId: 'core.delay',
  check(node) {
    const configured = configuredDelay(node);
    if (configured === undefined && node.inputs.delayMs === undefined) {
      return ['config.delayMs or the input delayMs must say how long to wait'];
    }
    return configured === undefined || isDelay(configured)
      ? noProblems
      : [`config.delayMs must be a number from 0 to ${MAX_SPAN_MS}`];
  },
  begin({ node, inputs, visit, attempt, now }) {
    const delayMs = inputs.delayMs ?? configuredDelay(node);
    if (!isDelay(delayMs)) {
      const message = `Node ${node.id} cannot wait ${JSON.stringify(delayMs)} ms; it takes a number from 0 to ${MAX_SPAN_MS}.`;
      return { kind: 'fail', error: { code: 'config_validation_failed', message, retryable: false } };
    }
    if (delayMs === 0) return { kind: 'complete', outputs: nothing };
    const timerId = `delay:${node.id}#${visit}.${attempt}`;
    const payload = { timerId, purpose: 'delay', nodeId: node.id, fireAt: isoTime(Math.ceil(now + delayMs)) };
    return { kind: 'wait', drafts: [{ type: 'cairn.timer.set', nodeId: node.id, audience: 'operator', payload }] };
  },
  fired: () => ({ kind: 'complete', outputs: nothing }),
};
