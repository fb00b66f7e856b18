import type { Json, JsonObject } from '@cairn/protocol';
import { classifyInboundRequest } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { isKnownRequest, rememberRequest } from './known-envelopes.ts';
import { MODERN } from './versions.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';
const INFO = 'io.modelcontextprotocol/clientInfo';
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const LEVEL = 'io.modelcontextprotocol/logLevel';
const TASK = 'io.modelcontextprotocol/related-task';

const meta = { [VERSION]: MODERN, [INFO]: { name: 'test', version: '1' }, [CAPABILITIES]: { elicitation: {} } };
const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'greet', arguments: {}, _meta: meta } };
const headers = { version: MODERN, method: 'tools/call' };

const withMeta = (more: JsonObject): JsonObject => ({
  ...request,
  params: { ...request.params, _meta: { ...meta, ...more } },
});

const isAccepted = (body: Json, { version, method }: typeof headers): boolean => {
  const about = { httpMethod: 'POST', protocolVersionHeader: version, mcpMethodHeader: method, body };
  return classifyInboundRequest(about).kind === 'modern';
};

describe('a request whose client has been seen', () => {
  rememberRequest(request);

  test('is known, whatever else it says', () => {
    for (const body of [
      request,
      { ...request, id: 'another' },
      { ...request, params: { ...request.params, name: 'other', arguments: { who: 'Ann' } } },
      withMeta({ progressToken: 'p', traceparent: 7 }),
    ]) {
      expect(isKnownRequest(body, headers), JSON.stringify(body)).toBe(true);
      expect(isAccepted(body, headers), JSON.stringify(body)).toBe(true);
    }
  });

  test('is looked at again by the SDK when anything that it checks differs', () => {
    const { id: _, ...notification } = request;
    const { [CAPABILITIES]: _unsaid, ...incomplete } = meta;
    const bodies: readonly Json[] = [
      null,
      [request],
      notification,
      { ...request, jsonrpc: '1.0' },
      { ...request, id: 1.5 },
      { ...request, id: null },
      { ...request, method: 'tools/list' },
      { ...request, extra: 1 },
      { ...request, params: 'x' },
      { ...request, params: { _meta: incomplete } },
      withMeta({ progressToken: {} }),
      withMeta({ progressToken: 0.5 }),
      withMeta({ [TASK]: { taskId: 7 } }),
      withMeta({ [VERSION]: '2027-01-01' }),
      withMeta({ [INFO]: { name: 7 } }),
      withMeta({ [INFO]: null }),
      withMeta({ [CAPABILITIES]: [] }),
      withMeta({ [LEVEL]: 'loud' }),
    ];
    for (const body of bodies) expect(isKnownRequest(body, headers), JSON.stringify(body)).toBe(false);
    const others = [
      { version: '2025-11-25', method: 'tools/call' },
      { version: MODERN, method: 'tools/list' },
    ];
    for (const other of others) expect(isKnownRequest(request, other)).toBe(false);
  });
});
