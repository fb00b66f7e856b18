import type { JsonObject } from '@cairn/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALPHA, BETA, eras, eventsOf, keys, McpHost, runOf } from './client.kit.ts';
import { MODERN } from './versions.ts';

const host = new McpHost();
beforeAll(() => host.start());
afterAll(() => host.close());

const approve = { action: 'accept', content: { approve: true } };

describe.each(eras)('a client of %s', (era) => {
  test('lists workflows and agents in order, with the schemas of their inputs', async () => {
    const { tools } = await (await host.client(era)).listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['ask', 'fail', 'gate', 'greet', 'slow', 'talk'],
      ...['agent.host.desk', 'agent.host.plain'],
    ]);
    expect(tools.find(({ name }) => name === 'greet')).toMatchObject({
      description: 'Greets somebody.',
      inputSchema: {
        type: 'object',
        properties: { who: { type: 'string', description: 'Whom to greet.' }, times: { type: 'number', default: 1 } },
        required: ['who'],
      },
    });
  });

  test('gets the result of a run, and where it comes from', async () => {
    const result = await (await host.client(era)).callTool({ name: 'greet', arguments: { who: 'Ann' } });
    const runId = runOf(result);
    expect(result).toMatchObject({
      content: [{ type: 'text', text: '{"who":"Ann"}' }],
      structuredContent: { who: 'Ann' },
      isError: false,
      _meta: { runId, hostId: ALPHA },
    });
    const events = await eventsOf(host, runId);
    const inputs = { who: 'Ann' };
    expect(events[0]).toMatchObject({
      type: 'run.started',
      payload: { transport: 'mcp', contentTrust: 'untrusted', inputs },
    });
    expect(result._meta).toHaveProperty('eventId', events.at(-1)?.eventId);
  });

  test('gets what an agent says, and progress before it', async () => {
    const progress: number[] = [];
    const result = await (await host.client(era)).callTool(
      { name: 'agent.host.desk', arguments: { message: 'Hello?' } },
      { onprogress: ({ progress: done }) => progress.push(done) },
    );
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'Done.' }], isError: false });
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect((await eventsOf(host, runOf(result)))[0]).toMatchObject({ payload: { transport: 'mcp' } });
  });

  test('continues the conversation that it names', async () => {
    const client = await host.client(era);
    const call = (given: object) =>
      client.callTool({ name: 'agent.host.plain', arguments: { message: 'Hello?', ...given } });
    const { contextId } = await host.rest('GET', `/v1/runs/${runOf(await call({}))}`);
    const again = await host.rest('GET', `/v1/runs/${runOf(await call({ contextId }))}`);
    expect(again.contextId).toBe(contextId);
  });

  test('reads runs as resources; those of other tenants are unknown', async () => {
    const client = await host.client(era);
    const runId = runOf(await client.callTool({ name: 'greet', arguments: { who: 'Ann' } }));
    const uri = `cairn://runs/${runId}`;
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(expect.objectContaining({ uri, mimeType: 'application/json' }));
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'cairn://runs/{runId}',
      'cairn://contexts/{contextId}/artifacts/{artifactId}',
    ]);
    const [content] = (await client.readResource({ uri })).contents;
    expect(JSON.parse(content !== undefined && 'text' in content ? content.text : '')).toMatchObject({
      runId,
      status: 'completed',
    });
    const stranger = await host.client(era, { key: keys.other });
    for (const [reader, unknown] of [
      [stranger, uri],
      [client, `${uri}x`],
      [client, 'cairn://contexts/%zz/artifacts/a'],
      [client, 'file:///etc/passwd'],
    ] as const) {
      await expect(reader.readResource({ uri: unknown })).rejects.toThrow('There is no such resource');
    }
    expect((await stranger.listResources()).resources).toEqual([]);
  });

  test('gets prompts, filled with its arguments', async () => {
    const client = await host.client(era);
    const { prompts } = await client.listPrompts();
    expect(prompts).toEqual([
      {
        name: 'acme.write',
        title: 'Write',
        description: 'Asks for a text.',
        arguments: [
          { name: 'topic', description: 'What it is about.', required: true },
          { name: 'audience', required: false },
        ],
      },
    ]);
    // Slots in values stay as they are.
    const given = { name: 'acme.write', arguments: { topic: '{{audience}}' } };
    expect(await client.getPrompt(given)).toMatchObject({
      description: 'Asks for a text.',
      messages: [{ role: 'user', content: { text: 'Write about {{audience}} for everybody, in {{audience}} words.' } }],
    });
    for (const [wrong, why] of [
      [{ name: 'acme.tone' }, 'There is no such prompt'],
      [{ name: 'acme.write' }, 'the argument topic is missing'],
      [{ name: 'acme.write', arguments: { topic: 'x', odd: 'y' } }, 'there is no argument "odd"'],
      [{ name: 'acme.write', arguments: { topic: 'x'.repeat(140_000) } }, 'more than 262144 characters'],
    ] as const) {
      await expect(client.getPrompt(wrong)).rejects.toThrow(why);
    }
  });

  test('completes ids of its own runs, and values of arguments', async () => {
    const client = await host.client(era);
    const runId = runOf(await client.callTool({ name: 'greet', arguments: { who: 'Ann' } }));
    const run = { type: 'ref/resource', uri: 'cairn://runs/{runId}' } as const;
    const prompt = { type: 'ref/prompt', name: 'acme.write' } as const;
    const argument = { name: 'runId', value: runId.slice(0, -1) };
    expect((await client.complete({ ref: run, argument })).completion.values).toContain(runId);
    const stranger = await host.client(era, { key: keys.other });
    expect((await stranger.complete({ ref: run, argument })).completion.values).toEqual([]);
    const values = async (name: string, value: string) =>
      (await client.complete({ ref: prompt, argument: { name, value } })).completion.values;
    expect(await values('audience', 'every')).toEqual(['everybody']);
    expect(await values('audience', 'nobody')).toEqual([]);
    await expect(values('odd', '')).rejects.toThrow('no such argument');
    const nothing = { type: 'ref/resource', uri: 'file:///{path}' } as const;
    await expect(client.complete({ ref: nothing, argument })).rejects.toThrow('ref names no prompt');
  });

  test('is told why a run failed', async () => {
    const result = await (await host.client(era)).callTool({ name: 'fail', arguments: {} });
    expect(result).toMatchObject({ content: [{ text: 'Intentional conformance failure' }], isError: true });
  });

  test('is told what is wrong with its arguments, and no run starts', async () => {
    const client = await host.client(era);
    const before = await host.rest('GET', '/v1/runs?workflowId=greet');
    for (const given of [{}, { who: 7 }, { who: 'Ann', extra: 1 }]) {
      const result = await client.callTool({ name: 'greet', arguments: given });
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/who|extra/) }] });
    }
    expect(await host.rest('GET', '/v1/runs?workflowId=greet')).toEqual(before);
  });

  test('answers what a run asks, in its own name', async () => {
    const asked: string[] = [];
    const onForm = (message: string) => {
      asked.push(message);
      return message === 'Pay?' ? approve : { action: 'accept', content: { answer: 'Rome' } };
    };
    const client = await host.client(era, { onForm });
    const approved = await client.callTool({ name: 'gate', arguments: {} });
    expect(approved).toMatchObject({ structuredContent: { action: 'accept', decidedBy: 'ann' }, isError: false });
    const answered = await client.callTool({ name: 'ask', arguments: {} });
    expect(answered).toMatchObject({ structuredContent: { answers: { city: 'Rome' } }, isError: false });
    expect(asked).toEqual(['Pay?', 'Which city?']);
  });

  test('rejects an approval that its user declines', async () => {
    const client = await host.client(era, { onForm: () => ({ action: 'decline' }) });
    const runId = runOf(await client.callTool({ name: 'gate', arguments: {} }));
    const events = await eventsOf(host, runId);
    expect(events.find(({ type }) => type === 'approval.received')).toMatchObject({ payload: { action: 'reject' } });
  });

  test('rejects any other question that its user declines', async () => {
    const client = await host.client(era, { onForm: () => ({ action: 'decline' }) });
    const result = await client.callTool({ name: 'ask', arguments: {} });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'The question was rejected.' }],
      _meta: { code: 'input_rejected' },
    });
    expect(await host.rest('GET', `/v1/runs/${runOf(result)}`)).toMatchObject({ status: 'failed' });
  });

  test('leaves a turn of a conversation open, which nobody can decline', async () => {
    const client = await host.client(era, { onForm: () => ({ action: 'decline' }) });
    const result = await client.callTool({ name: 'talk', arguments: {} });
    expect(result).toMatchObject({ isError: true, _meta: { code: 'waiting' } });
    await host.rest('POST', `/v1/runs/${runOf(result)}/cancel`, {});
  });

  test('is told where to answer if it cannot, or its user does not', async () => {
    const cancels = await host.client(era, { onForm: () => ({ action: 'cancel' }) });
    for (const client of [await host.client(era), cancels]) {
      const result = await client.callTool({ name: 'gate', arguments: {} });
      const runId = runOf(result);
      expect(result).toMatchObject({ isError: true, _meta: { code: 'waiting' } });
      expect(result).toMatchObject({ content: [{ text: expect.stringContaining(`cairn://runs/${runId}`) }] });
      expect(await host.rest('GET', `/v1/runs/${runId}`)).toMatchObject({ status: 'waiting-approval' });
      await host.rest('POST', `/v1/runs/${runId}/cancel`, {});
    }
  });

  test('cancels the run with its request', async () => {
    const client = await host.client(era);
    const stop = new AbortController();
    const runId = await new Promise<string>((resolve, reject) => {
      const call = client.callTool({ name: 'slow', arguments: {} }, { signal: stop.signal, onprogress: () => {} });
      host.newestRun('slow', 'running').then(resolve, reject);
      call.then(reject, () => {});
    });
    stop.abort('enough');
    const events = await host.ended(runId);
    expect(events.at(-1)).toMatchObject({ type: 'run.cancelled', payload: { reason: 'cross_protocol_cancel' } });
  });

  test('is told that somebody else cancelled the run', async () => {
    const client = await host.client(era);
    const call = client.callTool({ name: 'slow', arguments: {} });
    const runId = await host.newestRun('slow', 'running');
    await host.rest('POST', `/v1/runs/${runId}/cancel`, {});
    expect(await call).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('tool_canceled') }],
      _meta: { runId, code: 'tool_canceled' },
    });
  });

  test('gives the run its trace, from the message before the header', async () => {
    const client = await host.client(era);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = { traceparent: `00-${trace}-00f067aa0ba902b7-01`, tracestate: 'a=b' };
    const call = (_meta: object) => client.callTool({ name: 'greet', arguments: { who: 'x' }, _meta: { ..._meta } });
    const [first] = await eventsOf(host, runOf(await call(traced)));
    expect(first).toMatchObject({ payload: { traceparent: expect.stringContaining(trace), tracestate: 'a=b' } });
    const [second] = await eventsOf(host, runOf(await call({ traceparent: 'garbage' })));
    expect(second?.payload).not.toHaveProperty('traceparent');
  });

  test('names the run of its own host as the cause; of another it cannot', async () => {
    const stated = {
      runId: 'run-1',
      hostId: BETA,
      eventId: 'run-1:4',
      wellKnownUrl: 'https://beta.example.org/.well-known/openwop',
    };
    for (const [key, isKept] of [
      [keys.beta, true],
      [keys.ann, false],
    ] as const) {
      const client = await host.client(era, { key });
      const _meta = { 'cairn.causation': stated };
      const runId = runOf(await client.callTool({ name: 'greet', arguments: { who: 'x' }, _meta }));
      const { parent } = await host.rest('GET', `/v1/runs/${runId}/ancestry`);
      const { eventId: _, ...kept } = stated;
      expect(parent).toEqual(isKept ? { ...kept, cause: 'mcp-tool-call' } : null);
    }
  });
});

test.for(eras)('asks again for an answer that does not fit, in %s', async (era) => {
  const answers = ['x', 'Rome'];
  const asked: string[] = [];
  const client = await host.client(era, {
    onForm: (message) => {
      asked.push(message);
      return { action: 'accept', content: { answer: answers.shift() ?? '' } };
    },
  });
  expect(await client.callTool({ name: 'ask', arguments: {} })).toMatchObject({ isError: false });
  expect(asked).toEqual(['Which city?', expect.stringContaining('\nWhich city?')]);
});

test('goes on when somebody else answers while the client is asked', async () => {
  const client = await host.client('2025-11-25', { onForm: () => new Promise(() => {}) });
  const call = client.callTool({ name: 'gate', arguments: {} });
  const runId = await host.newestRun('gate', 'waiting-approval');
  await host.rest('POST', `/v1/runs/${runId}/interrupts/n`, { resumeValue: { action: 'accept' } }, keys.bob);
  expect(await call).toMatchObject({ structuredContent: { decidedBy: 'bob' }, isError: false });
});

test('a client whose stream is cut reads on, and answers what the run asks', async () => {
  const lines: string[] = [];
  const client = await host.client('2025-11-25', {
    onForm: () => approve,
    async fetch(url, init) {
      const response = await fetch(url, init);
      const what = init?.method === 'GET' ? 'GET' : String(init?.body);
      if (!what.includes('tools/call')) {
        if (what === 'GET' && response.ok) lines.push(`resumed ${response.status}`);
        return response;
      }
      const reader = response.body?.getReader();
      const first = await reader?.read();
      await reader?.cancel();
      const cut = new ReadableStream({ start: (stream) => stream.enqueue(first?.value), pull: (s) => s.error('cut') });
      return new Response(cut, { status: response.status, headers: response.headers });
    },
  });
  const result = await client.callTool({ name: 'gate', arguments: {} });
  expect(result).toMatchObject({ structuredContent: { action: 'accept', decidedBy: 'ann' }, isError: false });
  expect(lines).toEqual(['resumed 200']);
  const { runs } = await host.rest('GET', '/v1/runs?workflowId=gate&limit=1');
  expect(runs).toMatchObject([{ runId: runOf(result) }]);
});

test('a client with a handshake that goes away leaves its run going', async () => {
  const client = await host.client('2025-11-25');
  const call = client.callTool({ name: 'slow', arguments: {} }).catch(() => 'gone');
  const runId = await host.newestRun('slow', 'running');
  await client.close();
  expect(await call).toBe('gone');
  // What the host does when a client leaves, it has done before it answers another.
  await (await host.client(MODERN)).callTool({ name: 'greet', arguments: { who: 'x' } });
  expect(await host.rest('GET', `/v1/runs/${runId}`)).toMatchObject({ status: 'running' });
  await host.rest('POST', `/v1/runs/${runId}/cancel`, {});
});

test('the client knows the host, and the discovery document says that it serves MCP', async () => {
  const client = await host.client(MODERN);
  expect(client.getServerVersion()).toMatchObject({ name: 'cairn' });
  const legacy = await host.client('2025-11-25');
  await legacy.ping();
  await legacy.setLoggingLevel('warning');
  const { mcp, supportedTransports } = await host.rest('GET', '/.well-known/openwop');
  expect(supportedTransports).toContain('mcp');
  expect(mcp).toEqual({
    supported: true,
    serverMount: { supported: true, transports: ['streamable-http'], samplingBridge: false, elicitationBridge: true },
    protocolVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
    preferredVersion: '2026-07-28',
    profiles: ['mcp-2026-07-28', 'mcp-2025-06-18-legacy'],
    features: ['server-discover', 'mrtr', 'cacheable-lists'],
    serverUrls: [`${host.url}/v1/mcp`],
  });
});

const about = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('the response to a call', () => {
  const call = async (given: JsonObject, more: JsonObject = {}) => {
    const params = { name: 'greet', arguments: given, _meta: { ...about, ...more } };
    return fetch(`${host.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${keys.ann}`, accept: 'application/json, text/event-stream' },
        ...{ 'content-type': 'application/json', 'mcp-protocol-version': MODERN },
        ...{ 'mcp-method': 'tools/call', 'mcp-name': 'greet' },
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
  };

  test('is a document if nothing comes before the result', async () => {
    const response = await call({ who: 'Ann' });
    expect(response.headers.get('content-type')).toMatch('application/json');
    expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { who: 'Ann' } } });
  });

  test.each([
    ['the client follows its progress', { who: 'Ann' }, { progressToken: 7 }],
    ['the result is large', { who: 'x'.repeat(200_000) }, {}],
  ])('is a stream if %s', async (_, given, more) => {
    const response = await call(given, more);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const frames = (await response.text()).split('\n\n').filter((frame) => frame !== '');
    expect(JSON.parse(frames.at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
      id: 1,
      result: { structuredContent: given },
    });
    expect(frames.length > 1).toBe('progressToken' in more);
  });
});
