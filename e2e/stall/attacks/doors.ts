/** Attacks on the way in: keys, connections, headers. */
import type { Attack } from '../attack.ts';

export const doorAttacks: readonly Attack[] = [
  {
    name: 'wrong-keys',
    endsWith: ['unauthenticated', 'rate_limited'],
    async run(attacker) {
      for (let index = 0; index < 2_000; index += 20) {
        const guess = (offset: number) => ({ authorization: `Bearer guess-${index + offset}` });
        await Promise.all(Array.from({ length: 20 }, (_, i) => attacker.send('/v1/runs', { headers: guess(i) })));
      }
    },
  },
  {
    name: 'connections-that-say-nothing',
    async run(attacker) {
      await attacker.unread(1_000, '');
      await attacker.quiet(1_000);
    },
  },
  {
    name: 'headers-that-never-end',
    async run(attacker) {
      await attacker.unread(200, `GET /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n${'x-a: b\r\n'.repeat(200)}`);
      await attacker.quiet(1_000);
    },
  },
  {
    name: 'pipelined-requests',
    async run(attacker) {
      await attacker.unread(10, attacker.request('/v1/workflows').repeat(2_000));
      await attacker.quiet(2_000);
    },
  },
  {
    name: 'idempotency-keys',
    async run(attacker) {
      for (let index = 0; index < 1_000; index += 20) {
        const headers = (i: number) => ({ 'idempotency-key': `flood-${index + i}` });
        const body = { workflowId: 'absent' };
        await Promise.all(
          Array.from({ length: 20 }, (_, i) => attacker.send('/v1/runs', { body, headers: headers(i) })),
        );
      }
    },
  },
];
