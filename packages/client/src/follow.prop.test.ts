import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClient } from './client.ts';
import { chaosProxy, collect, eagerTimers, listen, runOf, serving } from './scripted-host.kit.ts';

test('a run arrives once, whole and in order through a network that cuts at any byte', async () => {
  const events = runOf(40);
  const host = await listen(serving(events));
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 12 }), async (cuts) => {
        const proxy = await chaosProxy(host.port, cuts);
        try {
          const client = createClient({ url: proxy.url, key: 'k', timers: eagerTimers });
          const seen = await collect(client.follow('run_a'));
          expect(seen).toEqual(events);
        } finally {
          await proxy.close();
        }
      }),
      { numRuns: 60 },
    );
  } finally {
    await host.close();
  }
});

test('a run whose events are partly hidden arrives with its holes and nothing else missing', async () => {
  const events = runOf(30);
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 1, max: 28 })),
      fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 6 }),
      async (hidden, cuts) => {
        const visible = events.filter((event) => !hidden.includes(event.sequence));
        const host = await listen(serving(visible));
        const proxy = await chaosProxy(host.port, cuts);
        try {
          const client = createClient({ url: proxy.url, key: 'k', timers: eagerTimers });
          expect(await collect(client.follow('run_a'))).toEqual(visible);
        } finally {
          await proxy.close();
          await host.close();
        }
      },
    ),
    { numRuns: 20 },
  );
});
