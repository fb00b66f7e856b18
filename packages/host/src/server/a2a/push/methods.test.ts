import { expect, test } from 'vitest';
import type { A2aRequest } from '../request.ts';
import { type PushMethodPorts, setPush } from './methods.ts';

test('a configuration for a task that ends while its address is checked is refused: nobody would be told', async () => {
  let hasEnded = false;
  const stored: object[] = [];
  const ports = {
    redactor: null,
    egress: {
      check: async () => {
        hasEnded = true;
      },
    },
    tasks: {
      find: async () => ({ runId: 'run_a', endedAt: null, fork: null, importedAt: null }),
      read: async () => ({ changes: 2, phase: hasEnded ? 'over' : 'working' }),
    },
    pushes: { set: async (push: object) => stored.push(push) },
  } as unknown as PushMethodPorts;
  const params = { taskId: 'run_a', url: 'https://example.org/news' };
  const call = { caller: { scopes: new Set(['webhooks:manage']) } };
  const request = { call, version: '1.0', rpc: { id: 1, method: '', params } } as unknown as A2aRequest;
  await expect(setPush(request, ports)).rejects.toThrow('has ended');
  expect(stored).toEqual([]);
});
