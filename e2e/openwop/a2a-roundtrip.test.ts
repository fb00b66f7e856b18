/** The published fixture of an A2A round trip, verbatim, with a peer whose task takes each end that the fixture names. */
import { expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { otherPeer, plainCard, task } from '../../packages/host/src/server/a2a-client/other-peer.kit.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { withOpenwop } from './with-openwop.ts';

const key = 'a-key-of-enough-characters';
const skills = [{ id: 'echo', name: 'Echo', description: 'Echoes.', tags: [] }];

withOpenwop('the fixture of A2A', (data) => {
  test.each([
    ['COMPLETED', 'completed'],
    ['REJECTED', 'failed'],
    ['AUTH_REQUIRED', 'waiting-input'],
  ])('a task that is %s leaves the run %s', async (state, expected) => {
    const peer = await otherPeer({
      card: (url) => plainCard(url, { skills }),
      script: (_, answer) => answer.result({ task: task(state, 'Said.') }),
    });
    await using host = await createHostOver(inMemoryStore(), {
      config: { port: 0, keys: [{ key, tenant: 't' }], a2a: { peers: [{ name: 'only', url: peer.url }] } },
      report: () => undefined,
    });
    const client = createClient({ url: host.url ?? '', key });
    const fixture = present(data.fixtures.get('conformance-a2a-task-roundtrip'));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    await fetch(`${host.url}/v1/workflows`, { method: 'POST', headers, body: fixture.text });
    const { runId } = await client.runs.create({ workflowId: 'conformance-a2a-task-roundtrip' });
    for await (const { type } of client.follow(runId)) if (type === 'interrupt.requested') break;
    const { status } = await client.runs.get(runId);
    await client.runs.cancel(runId).catch(() => undefined);
    await peer.close();
    expect(status).toBe(expected);
    expect(peer.received.filter(({ method }) => /^Send/.test(method))).toHaveLength(1);
  });
});
