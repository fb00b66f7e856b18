import { discovery } from '@cairn/protocol';
import { expect, test } from 'vitest';
import { discoveryDocument } from './discovery.ts';
import { served } from './served.contract.ts';

const facts = {
  version: '1.2.3',
  hostId: 'test',
  limits: { maxNodeExecutions: 7, maxRunDurationMs: 5_000, maxRequestBodyBytes: 99 },
  fixtures: null,
};

test('is a discovery document, and says the limits that are kept', () => {
  const document = discovery.parse(discoveryDocument(facts));
  expect(document).toMatchObject({
    supportedTransports: ['rest'],
    implementation: { name: 'cairn', version: '1.2.3' },
    limits: { maxNodeExecutions: 7, maxRunDurationMs: 5_000, maxRequestBodyBytes: 99 },
    configurable: { recursionLimit: { min: 1 }, runTimeoutMs: { min: 1 } },
    cairn: { hostId: 'test' },
  });
});

test('promises no family that is not wired', () => {
  const families = Object.keys(discoveryDocument(facts));
  for (const absent of ['agents', 'replay', 'webhooks', 'dispatch', 'mcp', 'a2a', 'fixtures', 'capabilities']) {
    expect(families).not.toContain(absent);
  }
});

test('lists fixtures and mirrors the families in conformance mode', () => {
  const document = discoveryDocument({ ...facts, fixtures: ['conformance-noop'] });
  expect(document.fixtures).toEqual(['conformance-noop']);
  expect(document.capabilities).toMatchObject({ limits: document.limits, configurable: document.configurable });
});

test('needs no key, can be cached, and is not sent again unchanged', async () => {
  const host = await served();
  const first = await host.ask('GET', '/.well-known/openwop', { key: null });
  const etag = first.headers.get('etag') ?? '';
  expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
  const status = async (known: string) =>
    (await host.ask('GET', '/.well-known/openwop', { key: null, headers: { 'if-none-match': known } })).status;
  expect(await status(etag)).toBe(304);
  expect(await status(`"other", W/${etag}`)).toBe(304);
  expect(await status('*')).toBe(304);
  expect(await status('"other"')).toBe(200);
});
