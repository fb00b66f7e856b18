import type { RunId } from '@cairn/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyStore } from '../../test/kit/faulty-store.ts';
import { inMemoryStore } from '../log/in-memory/store.ts';
import type { Store } from '../log/ports/store.ts';
import { rawGet } from '../server/ask.kit.ts';
import { chain } from '../server/sample-workflows.kit.ts';
import { keys, keyWith, served } from '../server/served.kit.ts';
import { parseTraceparent } from './trace-context.ts';

const noop = chain('noop', { typeId: 'core.identity' });

/** The lines of a figure, without those about it. */
const linesOf = (text: string, name: string): string[] =>
  text.split('\n').filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));

describe('/healthz', () => {
  it('answers everybody', async () => {
    const host = await served();
    const reply = await host.ask('GET', '/healthz', { key: null });
    expect([reply.status, reply.body]).toEqual([200, { status: 'alive' }]);
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });
});

describe('/readyz', () => {
  it('answers everybody, and says that each part is in order', async () => {
    const host = await served();
    const reply = await host.ask('GET', '/readyz', { key: null });
    expect([reply.status, reply.body]).toEqual([
      200,
      { status: 'ready', parts: { store: 'ok', engine: 'ok', server: 'ok' } },
    ]);
  });

  it('is not ready once the store failed a write, names it, and is again after one that succeeds', async () => {
    let isBroken = false;
    const base = inMemoryStore();
    const failing = faultyStore(base, () => (isBroken ? 'failed' : null));
    // A probe writes beside the log.
    const broken = async () => {
      throw (await failing.log.append({ runId: 'run_x' as RunId, rows: [] }).catch((error: unknown) => error)) as Error;
    };
    const checkpoints: Store['checkpoints'] = {
      ...base.checkpoints,
      putPosition: (...position) => (isBroken ? broken() : base.checkpoints.putPosition(...position)),
    };
    const host = await served({ store: { ...failing, checkpoints } });
    await host.engine.register('t', noop);
    expect((await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } })).status).toBe(201);
    isBroken = true;
    expect((await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } })).status).toBe(503);
    const before = host.reports.length;
    const reply = await host.ask('GET', '/readyz', { key: null });
    expect(reply.status).toBe(503);
    expect(reply.headers.get('retry-after')).toBe('1');
    expect(reply.body).toMatchObject({
      error: 'service_unavailable',
      message: 'This host is not ready: store: a write failed (store_failed).',
      details: { parts: { store: 'a write failed (store_failed)', engine: 'ok', server: 'ok' } },
    });
    // A probe every second must not fill the log.
    expect(host.reports.length).toBe(before);
    isBroken = false;
    expect((await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } })).status).toBe(201);
    expect((await host.ask('GET', '/readyz', { key: null })).status).toBe(200);
  });

  it('writes to an idle store to find out, and however many ask at once, once', async () => {
    const base = inMemoryStore();
    let probes = 0;
    const putPosition: Store['checkpoints']['putPosition'] = async (...position) => {
      probes += 1;
      return base.checkpoints.putPosition(...position);
    };
    const host = await served({ store: { ...base, checkpoints: { ...base.checkpoints, putPosition } } });
    const replies = await Promise.all(Array.from({ length: 20 }, () => host.ask('GET', '/readyz', { key: null })));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    expect(probes).toBe(1);
  });
});

describe('/metrics', () => {
  it('needs a key that may read them, which an ordinary one may not', async () => {
    const host = await served();
    expect((await host.ask('GET', '/metrics', { key: null })).status).toBe(401);
    expect((await host.ask('GET', '/metrics', { key: keyWith('runs:read') })).status).toBe(403);
    expect((await host.ask('GET', '/metrics', { key: keyWith('metrics:read') })).status).toBe(200);
  });

  it('gives what runs and the host did, and names no run', async () => {
    const host = await served();
    await host.engine.register('t', noop);
    const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
    await host.ask('GET', '/v1/runs/run_unknown');
    const { text, headers } = await host.ask('GET', '/metrics', { key: keyWith('metrics:read') });
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const created = 'openwop_run_created_total{openwop_workflow_id="noop",openwop_tenant_id="t"} 1';
    expect(linesOf(text, 'openwop_run_created_total')).toEqual([created]);
    expect(linesOf(text, 'openwop_run_active')).toEqual(['openwop_run_active{openwop_tenant_id="all"} 0']);
    expect(linesOf(text, 'openwop_queue_depth')).toEqual(['openwop_queue_depth{openwop_tenant_id="all"} 0']);
    const ended = '{openwop_run_status="completed",openwop_workflow_id="noop",openwop_tenant_id="t"';
    expect(linesOf(text, 'openwop_run_duration_seconds_count')).toEqual([
      `openwop_run_duration_seconds_count${ended}} 1`,
    ]);
    expect(text).toContain(`openwop_run_duration_seconds_bucket${ended},le="+Inf"} 1`);
    expect(linesOf(text, 'cairn_http_refusals_total')).toEqual(['cairn_http_refusals_total{error_type="not_found"} 1']);
    expect(text).toMatch(
      /http_server_request_duration_seconds_count\{http_request_method="POST",http_route="\/v1\/runs",http_response_status_code="201"\} 1/,
    );
    expect(Number(linesOf(text, 'cairn_log_append_duration_seconds_count')[0]?.split(' ')[1])).toBeGreaterThan(0);
    expect(linesOf(text, 'process_resident_memory_bytes')).toHaveLength(1);
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).not.toContain(String(body.runId));
  });

  it('is text that Prometheus reads: every line a comment or a sample, every family told of once', async () => {
    const host = await served();
    await host.engine.register('t', noop);
    await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
    // The name of a tenant may contain quotes and backslashes; the id of a workflow may not.
    const tenant = 'odd "name"\\\n';
    await host.engine.register(tenant, noop);
    await host.engine.start({ tenant, workflowId: 'noop', inputs: {}, options: {} });
    const { text } = await host.ask('GET', '/metrics', { key: keyWith('metrics:read') });
    const value = String.raw`(?:[-+]?[0-9.]+(?:e[-+]?\d+)?|\+Inf|-Inf|Nan)`;
    const label = String.raw`[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"`;
    const sample = new RegExp(`^[a-zA-Z_:][\\w:]*(?:\\{${label}(?:,${label})*\\})? ${value}$`);
    const types: string[] = [];
    for (const line of text.split('\n')) {
      if (line === '' || line.startsWith('# HELP ')) continue;
      if (line.startsWith('# TYPE ')) types.push(line.split(' ')[2] ?? '');
      else expect(line).toMatch(sample);
    }
    expect(new Set(types).size).toBe(types.length);
    expect(text).toContain('openwop_tenant_id="odd \\"name\\"\\\\\\n"');
  });

  it('leaves streams and long polls out of the time requests take', async () => {
    const host = await served();
    await host.engine.register('t', noop);
    const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' } });
    const headers = { accept: 'text/event-stream' };
    expect((await host.ask('GET', `/v1/runs/${body.runId}/events`, { headers })).text).toContain('run.completed');
    expect((await host.ask('GET', `/v1/runs/${body.runId}/events/poll`)).status).toBe(200);
    const { text } = await host.ask('GET', '/metrics', { key: keyWith('metrics:read') });
    expect(text).toContain('http_route="/v1/runs"');
    expect(text).not.toContain('/events');
  });

  it('counts open streams', async () => {
    const host = await served();
    await host.engine.register('t', chain('wait', { typeId: 'core.delay', config: { delayMs: 3_600_000 } }));
    const { body, status } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'wait' } });
    expect(status).toBe(201);
    const controller = new AbortController();
    onTestFinished(() => controller.abort());
    const headers = { authorization: `Bearer ${keys.alice}`, accept: 'text/event-stream' };
    const stream = await fetch(`${host.url}/v1/runs/${body.runId}/events`, { headers, signal: controller.signal });
    expect(stream.status).toBe(200);
    const { text } = await host.ask('GET', '/metrics', { key: keyWith('metrics:read') });
    expect(linesOf(text, 'cairn_streams_open')).toEqual(['cairn_streams_open 1']);
  });
});

describe('every answer', () => {
  it("carries a traceparent in the caller's trace, be it a refusal, an unknown path or a stream", async () => {
    const host = await served();
    await host.engine.register('t', noop);
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
    const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' }, headers });
    const accept = 'text/event-stream';
    const replies = [
      await host.ask('GET', '/v1/runs', { headers }),
      await host.ask('GET', '/v1/runs', { key: null, headers }),
      await host.ask('GET', '/nothing', { headers }),
      await host.ask('GET', `/v1/runs/${body.runId}/events`, { headers: { ...headers, accept } }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 401, 400, 200]);
    for (const reply of replies) expect(parseTraceparent(reply.headers.get('traceparent'))?.traceId).toBe(traceId);
  });

  it('is given also when the header is malformed', async () => {
    const host = await served();
    await host.engine.register('t', noop);
    const { status, body } = await host.ask('POST', '/v1/runs', {
      body: { workflowId: 'noop' },
      headers: { traceparent: 'garbage', tracestate: '\t=' },
    });
    expect(status).toBe(201);
    const [first] = await host.store.log.read({ runId: body.runId as RunId, after: -1, limit: 1 });
    expect(first?.payload).not.toContain('trace');
    const raw = await rawGet(host.port, '/healthz', { traceparent: 'a'.repeat(5_000) });
    expect(raw.status).toBe(200);
  });

  it('of a run that was created in a trace leaves that trace recorded with the run', async () => {
    const host = await served();
    await host.engine.register('t', noop);
    const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'v=1' };
    const { body } = await host.ask('POST', '/v1/runs', { body: { workflowId: 'noop' }, headers });
    const [first] = await host.store.log.read({ runId: body.runId as RunId, after: -1, limit: 1 });
    expect(JSON.parse(first?.payload ?? '')).toMatchObject(headers);
  });
});
