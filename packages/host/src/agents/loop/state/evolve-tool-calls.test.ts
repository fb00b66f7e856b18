import { expect, test } from 'vitest';
import { AgentScript } from '../agent-script.kit.ts';

const lines = ['openwop:decide', 'openwop:look'];

test('a call keeps its place in the turn beside a call that the loop answers itself', () => {
  const run = new AgentScript({ agents: { solo: { manifest: { toolAllowlist: lines } } } }).calls(
    ['openwop_look', { n: 0 }, 'a'],
    ['openwop_decide', { decision: 1, confidence: 0.99 }, 'b'],
    ['openwop_look', { n: 2 }, 'c'],
  );
  const inputs = [...run.state.calls.values()].map((call) => [call.callId, run.inputOf(call)]);
  expect(inputs).toMatchObject([
    ['a#0.0/t0.0', { input: { n: 0 }, turnId: 'a#0.0/t0' }],
    ['a#0.0/t0.2', { input: { n: 2 }, turnId: 'a#0.0/t0' }],
  ]);
});
