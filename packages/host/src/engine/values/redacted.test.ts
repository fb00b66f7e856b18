import type { JsonObject } from '@cairn/protocol';
import { describe, expect, it } from 'vitest';
import { bench, chain, heldStep } from '../../../test/kit/engine-bench.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { StartRun } from '../engine.ts';
import { redactedStart, refuseSecrets } from './redacted.ts';

const secret = 'sk-0123456789abcdef';
const redactor = createRedactor([{ name: 'key', value: secret }]);
const start: StartRun = { tenant: 't', workflowId: 'flow', inputs: {}, options: {} };

describe('a run that is to start', () => {
  it('loses the secrets of everything that its caller wrote', () => {
    const request: StartRun = {
      ...start,
      inputs: { a: secret },
      options: { tags: [secret], metadata: { [secret]: 1 }, configurable: { deep: [{ b: secret }] } as JsonObject },
      trace: { traceparent: 'p', tracestate: `v=${secret}` },
      scopeId: `of ${secret}`,
    };
    expect(redactedStart(redactor, request)).toEqual({
      ...start,
      inputs: { a: '[REDACTED]' },
      options: {
        tags: ['[REDACTED]'],
        metadata: { '[REDACTED]': 1 },
        configurable: { deep: [{ b: '[REDACTED]' }] },
      },
      trace: { traceparent: 'p', tracestate: 'v=[REDACTED]' },
      scopeId: 'of [REDACTED]',
    });
  });

  it.each([
    ['callbackUrl', { callbackUrl: `https://example.org/${secret}` }],
    ['contextId', { contextId: `ctx_${secret}` as const }],
  ])('is refused when its %s holds a secret: with a marker in it, it would be another', (name, part) => {
    expect(() => redactedStart(redactor, { ...start, ...part } as StartRun)).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        message: expect.stringMatching(new RegExp(`^${name} holds a secret`)),
      }),
    );
  });
});

describe('what is kept for its exact words', () => {
  it('is refused by the place, never by the secret or its name', () => {
    const refuse = () => refuseSecrets(redactor, 'The workflow', { nodes: [{ config: { [`x${secret}`]: secret } }] });
    expect(refuse).toThrow('The workflow (nodes.0.config.x[REDACTED]) holds a secret of this host');
    expect(refuse).toThrow(expect.not.objectContaining({ message: expect.stringContaining(secret) }));
  });

  it('passes without a secret, and where none is known', () => {
    expect(() => refuseSecrets(redactor, 'The workflow', { nodes: ['sk-'] })).not.toThrow();
    expect(() => refuseSecrets(null, 'The workflow', secret)).not.toThrow();
  });
});

describe('a command by a node that does not hold the run', () => {
  it('is recorded without its secrets, too', async () => {
    const world = bench();
    const held = heldStep('held');
    const holder = world.node('holder', [held.step]);
    const runId = await world.begin(holder, chain('local.step.held'));
    await held.called(1);
    const other = world.node('other', [held.step], undefined, redactor);
    await other.cancel({ tenant: 't', runId, reason: `because of ${secret}` });
    const text = JSON.stringify(await world.rows(runId));
    expect(text).toContain('because of [REDACTED]');
    expect(text).not.toContain(secret);
    await Promise.all([holder.close(), other.close()]);
  });
});
