/** Workflows without people, agents or children: every control node, data, edges, delays, retries and limits. */
import {
  defineStep,
  defineWorkflow,
  expression,
  fixed,
  outputOf,
  RetryableError,
  TerminalError,
  variable,
} from '../../../packages/host/src/index.ts';
import type { Story } from '../story.ts';

const controlNodes: Story = {
  name: 'control-nodes',
  app: {
    steps: [
      defineStep({ name: 'double', safety: 'pure', run: async ({ n }) => ({ twice: 2 * Number(n) }) }),
      defineStep({
        name: 'refuse',
        safety: 'read',
        run: () => Promise.reject(new TerminalError('conflict', { message: 'No.' })),
      }),
    ],
    workflows: [
      defineWorkflow({
        id: 'control-nodes',
        version: '1',
        variables: {
          n: { type: 'number', required: true },
          sum: { type: 'number', defaultValue: 0 },
          size: { type: 'string' },
        },
        channels: { notes: { reducer: 'append' }, last: { reducer: 'replace' } },
        nodes: {
          start: { type: 'core.start' },
          fan: { type: 'core.parallel' },
          double: { type: 'local.step.double', inputs: { n: variable('n') } },
          read: { type: 'core.getVariable', config: { name: 'n' } },
          skipped: { type: 'core.noop', disabled: true },
          join: { type: 'core.merge' },
          large: { type: 'core.conditional', config: { expression: 'variables.n > 100.0' } },
          big: { type: 'core.setVariable', config: { name: 'size', value: 'big' } },
          small: { type: 'core.setVariable', config: { name: 'size', value: 'small' } },
          each: { type: 'core.loop', config: { items: [1, 2, 3] } },
          add: { type: 'core.setVariable', config: { name: 'sum', expression: 'variables.sum + outputs.each.item' } },
          note: {
            type: 'core.channelWrite',
            config: { channelName: 'notes' },
            inputs: { value: outputOf('each', 'index') },
          },
          refuse: { type: 'local.step.refuse' },
          mend: { type: 'core.identity', inputs: { why: fixed('refused') } },
          tell: { type: 'core.channelWrite', config: { channelName: 'last', value: { done: true } } },
          end: { type: 'core.end', inputs: { total: expression('variables.sum + outputs.double.twice') } },
        },
        edges: [
          { from: 'start', to: 'fan' },
          { from: 'fan', to: 'double' },
          { from: 'fan', to: 'read' },
          { from: 'fan', to: 'skipped' },
          { from: 'double', to: 'join' },
          { from: 'read', to: 'join' },
          { from: 'skipped', to: 'join' },
          { from: 'join', to: 'large' },
          { from: 'large', to: 'big', port: 'true' },
          { from: 'large', to: 'small', port: 'false' },
          { from: 'big', to: 'each', rule: 'any_success' },
          { from: 'small', to: 'each', rule: 'any_success' },
          { from: 'each', to: 'add', port: 'body' },
          { from: 'add', to: 'note' },
          { from: 'note', to: 'each' },
          { from: 'each', to: 'refuse', port: 'done' },
          { from: 'refuse', to: 'mend', rule: 'any_failed' },
          { from: 'mend', to: 'tell', when: 'output.why == "refused"' },
          { from: 'tell', to: 'end' },
        ],
      }),
    ],
  },
  async play(host) {
    const options = { tags: ['golden', 'control'], metadata: { ticket: 7 } };
    const runId = await host.start('control-nodes', { n: 21 }, options);
    await host.ended(runId);
    return runId;
  },
};

const delays = (failures = { count: 0 }): Story => ({
  name: 'delays-and-retries',
  app: {
    steps: [
      defineStep({
        name: 'flaky',
        safety: 'idempotent',
        run: async (_, { attempt }) => {
          failures.count += 1;
          if (failures.count < 3) throw new RetryableError('conflict', { message: `Not yet, at attempt ${attempt}.` });
          return { attempt };
        },
      }),
      defineStep({ name: 'slow', safety: 'read', run: (_, { signal }) => untilStopped(signal) }),
    ],
    workflows: [
      defineWorkflow({
        id: 'delays-and-retries',
        version: '1',
        nodes: {
          wait: { type: 'core.delay', config: { delayMs: 500 } },
          flaky: { type: 'local.step.flaky', settings: { retry: { maxAttempts: 4, backoffMs: 100, factor: 3 } } },
          slow: { type: 'local.step.slow', settings: { timeoutMs: 200 } },
          after: { type: 'core.noop' },
        },
        edges: [
          { from: 'wait', to: 'flaky' },
          { from: 'flaky', to: 'slow' },
          { from: 'slow', to: 'after', rule: 'all_complete' },
        ],
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('delays-and-retries');
    await host.row(runId, 'cairn.timer.set');
    host.pass(500);
    await host.row(runId, 'node.retried');
    host.pass(100);
    await host.row(runId, 'node.retried', 2);
    host.pass(300);
    await host.row(runId, 'cairn.step.requested', 4);
    host.pass(200);
    await host.ended(runId);
    return runId;
  },
});

export const untilStopped = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });

const endless = defineWorkflow({
  id: 'endless',
  version: '1',
  nodes: {
    again: { type: 'core.loop', config: { whileExpression: 'true' } },
    turn: { type: 'core.noop' },
    done: { type: 'core.noop' },
  },
  edges: [
    { from: 'again', to: 'turn', port: 'body' },
    { from: 'turn', to: 'again' },
    { from: 'again', to: 'done', port: 'done' },
  ],
});

const limits: Story = {
  name: 'node-limit',
  app: { workflows: [endless] },
  async play(host) {
    const runId = await host.start('endless', {}, { configurable: { recursionLimit: 7 } });
    await host.ended(runId);
    return runId;
  },
};

const timeout: Story = {
  name: 'run-timeout',
  app: {
    workflows: [
      defineWorkflow({
        id: 'run-timeout',
        version: '1',
        nodes: { wait: { type: 'core.delay', config: { delayMs: 60_000 } } },
      }),
    ],
  },
  async play(host) {
    const runId = await host.start('run-timeout', {}, { configurable: { runTimeoutMs: 2_000 } });
    await host.row(runId, 'cairn.timer.set');
    host.pass(2_000);
    await host.ended(runId);
    return runId;
  },
};

export const controlStories: readonly Story[] = [controlNodes, delays(), limits, timeout];
