/** The published fixture of an MCP round trip, verbatim, with a published server. */
import { expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { inMemoryStore } from '../../packages/host/src/log/in-memory/store.ts';
import { createHostOver } from '../../packages/host/src/server/create-host.ts';
import { otherServer } from '../../packages/host/src/server/mcp-client/other-server.kit.ts';
import { eventsOf } from '../../packages/host/test/kit/followed-run.ts';
import { present } from '../../packages/host/test/kit/present.ts';
import { withOpenwop } from './with-openwop.ts';

const key = 'a-key-of-enough-characters';

withOpenwop('the fixture of MCP', (data) => {
  test('calls the tool of the only server, and the result is marked as untrusted', async () => {
    const server = await otherServer();
    await using host = await createHostOver(inMemoryStore(), {
      config: { port: 0, keys: [{ key, tenant: 't' }], mcp: { servers: [{ id: 'only', url: server.url }] } },
      report: () => undefined,
    });
    const client = createClient({ url: host.url ?? '', key });
    const fixture = present(data.fixtures.get('conformance-mcp-tool-roundtrip'));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    await fetch(`${host.url}/v1/workflows`, { method: 'POST', headers, body: fixture.text });
    const { runId } = await client.runs.create({ workflowId: 'conformance-mcp-tool-roundtrip' });
    const events = await eventsOf(client, runId);
    await server.close();
    expect(events.find(({ type }) => type === 'agent.toolReturned')).toMatchObject({
      payload: { toolId: 'mcp:only/echo', outcome: 'roundtrip-probe', transport: 'mcp', contentTrust: 'untrusted' },
    });
    expect(events.at(-1)).toMatchObject({ type: 'run.completed' });
    expect(server.received.filter(({ method }) => method === 'tools/call')).toMatchObject([{ tool: 'echo' }]);
  });
});
