/** Runs that do not simply complete: failed, cancelled, paused, left by their host, and with sealed values. */
import { defineStep, defineWorkflow, fixed, outputOf, variable } from '../../../packages/host/src/index.ts';
import type { Story } from '../story.ts';
import { untilStopped } from './control.ts';

const gate = { type: 'core.approvalGate', config: { title: 'Go on?' } } as const;

const failure: Story = {
  name: 'failure',
  app: {
    workflows: [
      defineWorkflow({
        id: 'failure',
        version: '1',
        nodes: {
          wait: { type: 'core.delay', config: { delayMs: 60_000 } },
          ask: gate,
          stop: { type: 'core.fail', config: { code: 'no_stock', message: 'Nothing is left.' } },
        },
        edges: [{ from: 'ask', to: 'stop', port: 'approved' }],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('failure');
    await host.answer(runId, 'ask', { action: 'accept' });
    await host.ended(runId);
    return runId;
  },
};

const cancel: Story = {
  name: 'cancel',
  app: {
    steps: [defineStep({ name: 'hang', safety: 'read', run: (_, { signal }) => untilStopped(signal) })],
    workflows: [
      defineWorkflow({
        id: 'cancel',
        version: '1',
        nodes: {
          ask: gate,
          hang: { type: 'local.step.hang' },
          wait: { type: 'core.delay', config: { delayMs: 60_000 } },
        },
        edges: [],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('cancel');
    await host.row(runId, 'cairn.step.requested');
    host.pass();
    await host.cancel(runId, 'Not needed any more.');
    await host.ended(runId);
    return runId;
  },
};

const pause: Story = {
  name: 'pause',
  app: {
    steps: [
      defineStep({
        name: 'long',
        safety: 'read',
        run: async (_, { attempt, signal }) => (attempt === 1 ? untilStopped(signal) : { attempt }),
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'pause',
        version: '1',
        nodes: {
          first: gate,
          wait: { type: 'core.delay', config: { delayMs: 3_000 } },
          long: { type: 'local.step.long' },
          last: gate,
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('pause');
    await host.answer(runId, 'first', { action: 'accept' });
    await host.row(runId, 'cairn.timer.set');
    await host.pause(runId, 'drain-current-node');
    host.pass(3_000);
    await host.row(runId, 'run.paused');
    host.pass();
    await host.resume(runId);
    await host.row(runId, 'cairn.step.requested');
    await host.pause(runId, 'immediate');
    await host.row(runId, 'run.paused', 2);
    host.pass();
    await host.resume(runId);
    await host.answer(runId, 'last', { action: 'accept' });
    await host.ended(runId);
    return runId;
  },
};

/** A read is repeated by the next host; a person decides about a write whose result nobody knows. */
const recovery = (first = { isThere: true }): Story => ({
  name: 'recovery',
  app: {
    steps: [
      defineStep({
        name: 'look',
        safety: 'read',
        run: async (_, { attempt, signal }) => (first.isThere ? untilStopped(signal) : { attempt }),
      }),
      defineStep({
        name: 'pay',
        safety: 'write',
        run: async (_, { attempt, signal }) => (first.isThere ? untilStopped(signal) : { attempt }),
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'recovery',
        version: '1',
        nodes: { look: { type: 'local.step.look' }, pay: { type: 'local.step.pay' }, both: { type: 'core.merge' } },
        edges: [
          { from: 'look', to: 'both' },
          { from: 'pay', to: 'both' },
        ],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('recovery');
    await host.row(runId, 'cairn.step.requested', 2);
    await host.stop();
    first.isThere = false;
    host.pass(60_000);
    await host.restart();
    await host.answer(runId, 'pay', { action: 'retry' });
    await host.ended(runId);
    return runId;
  },
});

const sealed: Story = {
  name: 'sealed-values',
  app: {
    steps: [defineStep({ name: 'login', safety: 'pure', run: async ({ pin }) => ({ length: String(pin).length }) })],
    workflows: [
      defineWorkflow({
        id: 'sealed-values',
        version: '1',
        variables: { pin: { type: 'string', required: true, sensitive: true } },
        nodes: {
          login: { type: 'local.step.login', inputs: { pin: variable('pin') } },
          give: { type: 'core.identity', inputs: { length: outputOf('login', 'length'), kept: fixed('yes') } },
        },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('sealed-values', { pin: 'a-pin-that-nobody-sees' });
    await host.ended(runId);
    return runId;
  },
};

export const endStories: readonly Story[] = [failure, cancel, pause, recovery(), sealed];
