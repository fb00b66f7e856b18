import type { RunId } from '@cairn/protocol';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../../log/ports/run-index.ts';
import { createRedactor } from '../../../redaction/redactor.ts';
import type { Caller } from '../../access/auth.ts';
import type { Egress } from '../../egress/egress.ts';
import type { Call } from '../../http/routes.ts';
import type { FollowedTask } from '../followed-task.ts';
import type { A2aTasks } from '../tasks.ts';
import type { PushConfig } from './config.ts';
import { checkedPush, type PushMethodPorts, setPush } from './methods.ts';
import type { Pushes } from './pushes.ts';

test('a configuration for a task that ends while its address is checked is refused: nobody would be told', async () => {
  let hasEnded = false;
  let isStored = false;
  const task = { runId: 'run_a' as RunId, endedAt: null, fork: null, importedAt: null } as RunRecord;
  const egress = {
    check: async () => {
      hasEnded = true;
    },
  } as Partial<Egress> as Egress;
  const tasks = {
    find: async () => task,
    read: async () => ({ changes: 2, phase: hasEnded ? 'over' : 'working' }) as FollowedTask,
  } as Partial<A2aTasks> as A2aTasks;
  const pushes = {
    set: async () => {
      isStored = true;
      return {} as PushConfig;
    },
  } as Partial<Pushes> as Pushes;
  const call = { caller: { scopes: new Set(['webhooks:manage']) } as Partial<Caller> as Caller } as Call;
  const rpc = { id: 1, method: '', params: { taskId: 'run_a', url: 'https://example.org/news' } };
  const request = { call, version: '1.0', rpc, skillId: undefined } as const;
  await expect(setPush(request, { redactor: null, egress, tasks, pushes })).rejects.toThrow('has ended');
  expect(isStored).toBe(false);
});

test.each(['id', 'url'])(
  'a configuration with a secret of the host as its %s is refused: it would be stored as it is',
  async (field) => {
    const secret = 'push-secret-0123456789';
    const ports = {
      redactor: createRedactor([{ name: 's', value: secret }]),
    } as Partial<PushMethodPorts> as PushMethodPorts;
    const call = { caller: { scopes: new Set(['webhooks:manage']) } as Partial<Caller> as Caller } as Call;
    const params = { id: 'one', url: 'https://example.org/news', token: undefined, authentication: undefined };
    const held = { ...params, [field]: `https://example.org/${secret}` };
    await expect(checkedPush(call, held, ports)).rejects.toMatchObject({ code: 'validation_error' });
  },
);
