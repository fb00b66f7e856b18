/** A driven node for tests: rounds of parallel calls, with an optional rest or question between rounds. */
import { isoTime, row } from '@cairn/protocol';
import { z } from 'zod';
import { askDrafts } from '../../src/engine/core/interrupts.ts';
import type { Draft, OpenCall } from '../../src/engine/core/state.ts';
import { anyJsonObject } from '../../src/engine/nodes/config-fields.ts';
import { TOOL_PERFORMER } from '../../src/engine/performer-ids.ts';
import type { CallResult } from '../../src/engine/workflow/driven-calls.ts';
import { type DrivenContext, defineNodeType, type NodeDriver } from '../../src/engine/workflow/node-type.ts';

const config = z.looseObject({
  rounds: z.int(),
  width: z.int(),
  safety: z.enum(['pure', 'read', 'write', 'idempotent']),
  /** Input of its calls, in addition to their ids. */
  input: anyJsonObject.optional(),
  /** Rest this long before each round except the first. */
  restMs: z.number().optional(),
  /** Ask before each round except the first. */
  asks: z.boolean().optional(),
});

type Config = z.infer<typeof config>;

interface Relay {
  /** Number of rounds started. */
  round: number;
  open: number;
  between: 'nothing' | 'waiting' | 'over';
  /** The result of each call, in order of arrival. */
  results: string[];
  emitted: number;
}

const driver: NodeDriver<Relay, Config> = {
  fresh: () => ({ round: 0, open: 0, between: 'nothing', results: [], emitted: 0 }),
  runChange(event) {
    switch (event.type) {
      case 'agent.toolCalled': {
        const { callId, attempt = 1, safety = 'write', recoveries = 0 } = event.payload;
        return { kind: 'call-opened', call: { callId, attempt, safety, recoveries, step: TOOL_PERFORMER } };
      }
      case 'agent.toolReturned':
        return { kind: 'call-closed', callId: event.payload.callId, attempt: event.payload.attempt ?? 0 };
      default:
        return null;
    }
  },
  evolve(relay, { type, payload }) {
    if (type === 'agent.toolCalled' && payload.attempt === 1) {
      relay.open += 1;
      relay.round = payload.round ?? 0;
      relay.between = 'nothing';
    } else if (type === 'agent.toolReturned') {
      relay.open -= 1;
      relay.results.push(`${payload.callId}: ${JSON.stringify(payload.outcome ?? payload.error)}`);
    } else if (type === 'cairn.timer.set') {
      relay.between = 'waiting';
    } else if (type === 'interrupt.requested') {
      if (payload.data.customKind !== 'cairn.step.interrupted') relay.between = 'waiting';
    } else if (type === 'cairn.timer.fired' || (type === 'interrupt.resolved' && relay.between === 'waiting')) {
      relay.between = 'over';
    } else if (type === 'cairn.tool.progress') {
      relay.emitted += 1;
    }
  },
  next(context) {
    const { inner, node } = context;
    const { rounds, width, safety, restMs, asks } = context.config;
    if (inner.open > 0 || inner.between === 'waiting') return null;
    if (inner.round === rounds) return { kind: 'complete', outputs: { results: inner.results } };
    if (inner.round > 0 && inner.between === 'nothing') {
      if (restMs !== undefined) return { kind: 'wait', drafts: [rest(context, restMs)] };
      if (asks === true) {
        const question = { nodeId: node.id, kind: 'custom' as const, data: { customKind: 'go-on', payload: {} } };
        return { kind: 'wait', drafts: askDrafts(context.state, question) };
      }
    }
    const callIds = Array.from(
      { length: width },
      (_, i) => `${node.id}#${context.visit}.${context.attempt}/${inner.round}.${i}`,
    );
    return {
      kind: 'wait',
      drafts: callIds.map((callId) => called(context, { callId, attempt: 1, safety }, inner.round + 1)),
      effects: callIds.map((callId) => ({ kind: 'step', callId })),
    };
  },
  callInput: ({ config }, { callId }) => ({ callId, ...config.input }),
  returned: (context, call, result) => [returned(context, call, result)],
  again: (context, call) => [called(context, { ...call, attempt: call.attempt + 1 }, context.inner.round)],
};

function called(
  { node }: DrivenContext<Relay>,
  { callId, attempt, safety }: Pick<OpenCall, 'callId' | 'attempt' | 'safety'>,
  round: number,
): Draft {
  const payload = { agentId: 'host:relay', toolName: 'relay', callId, attempt, safety, round };
  return row('agent.toolCalled', payload, { nodeId: node.id });
}

function returned({ node }: DrivenContext<Relay>, { callId, attempt }: OpenCall, result: CallResult): Draft {
  const came = 'given' in result ? { outcome: result.given } : result;
  const payload = { agentId: 'host:relay', toolName: 'relay', callId, attempt, ...came };
  return row('agent.toolReturned', payload, { nodeId: node.id });
}

function rest({ node, inner, visit, attempt, now }: DrivenContext<Relay>, restMs: number): Draft {
  const timerId = `relay:${node.id}#${visit}.${attempt}/${inner.round}`;
  const payload = { timerId, purpose: 'delay' as const, nodeId: node.id, fireAt: isoTime(now + restMs) };
  return row('cairn.timer.set', payload, { nodeId: node.id });
}

export const relayNode = defineNodeType({
  typeId: 'local.test.relay',
  config,
  driver,
  begin: () => ({ kind: 'wait', drafts: [] }),
});
