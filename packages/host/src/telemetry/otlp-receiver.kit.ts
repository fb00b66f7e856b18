/** A collector for tests: accepts OTLP in both encodings and shows it in one form; not shipped. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly code: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  /** Trace and span that it links to. Read from JSON only. */
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

export interface ReceivedPoint {
  readonly attributes: Attributes;
  readonly value: number | { readonly count: number; readonly sum: number; readonly buckets: readonly number[] };
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  readonly points: readonly ReceivedPoint[];
}

type Attributes = Readonly<Record<string, unknown>>;

export interface Receiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly metrics: readonly ReceivedMetric[];
  readonly resources: readonly Attributes[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** `status` returns the response code of each request, by its number from 0. */
export async function otlpReceiver(status: (request: number) => number = () => 200): Promise<Receiver> {
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const spans: ReceivedSpan[] = [];
  const metrics: ReceivedMetric[] = [];
  const resources: Attributes[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = request.url ?? '';
    const code = status(requests.length);
    requests.push({ path, headers: request.headers });
    if (code === 200) {
      const body = Buffer.concat(chunks);
      const isJson = request.headers['content-type'] === 'application/json';
      if (path === '/v1/traces')
        takeSpans(isJson ? JSON.parse(body.toString()) : traceRequest(body), { spans, resources });
      else takeMetrics(isJson ? JSON.parse(body.toString()) : metricsRequest(body), { metrics, resources });
    }
    response.writeHead(code, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, spans, metrics, resources, requests, close };
}

/** Unvalidated data from a peer. */
interface Wire {
  readonly [name: string]: Wire | undefined;
}

const list = (value: Wire | undefined): readonly Wire[] => (Array.isArray(value) ? value : []);
const wire = (value: unknown): Wire => value as Wire;

function takeSpans(body: Wire, into: { readonly spans: ReceivedSpan[]; readonly resources: Attributes[] }): void {
  for (const { resource, scopeSpans } of list(body.resourceSpans)) {
    into.resources.push(attributesOf(resource?.attributes));
    for (const span of list(scopeSpans).flatMap(({ spans }) => list(spans))) {
      into.spans.push({
        traceId: String(span.traceId),
        spanId: String(span.spanId),
        parentSpanId: String(span.parentSpanId ?? ''),
        name: String(span.name),
        kind: Number(span.kind),
        startMs: millis(span.startTimeUnixNano),
        endMs: millis(span.endTimeUnixNano),
        code: Number(span.status?.code ?? 0),
        attributes: attributesOf(span.attributes),
        events: list(span.events).map(({ name, attributes }) => ({
          name: String(name),
          attributes: attributesOf(attributes),
        })),
        links: list(span.links).map(({ traceId, spanId }) => ({ traceId: String(traceId), spanId: String(spanId) })),
      });
    }
  }
}

const millis = (nanos: Wire | undefined): number => Number(BigInt(String(nanos)) / 1_000_000n);

function takeMetrics(body: Wire, into: { readonly metrics: ReceivedMetric[]; readonly resources: Attributes[] }): void {
  for (const { resource, scopeMetrics } of list(body.resourceMetrics)) {
    into.resources.push(attributesOf(resource?.attributes));
    for (const metric of list(scopeMetrics).flatMap(({ metrics }) => list(metrics))) {
      const kind = (['gauge', 'sum', 'histogram'] as const).find((name) => metric[name] !== undefined) ?? 'gauge';
      const points = list(metric[kind]?.dataPoints).map((point): ReceivedPoint => {
        const { asDouble, asInt, count, sum, bucketCounts } = point;
        const histogram = { count: Number(count), sum: Number(sum), buckets: list(bucketCounts).map(Number) };
        const value = kind === 'histogram' ? histogram : Number(asDouble ?? asInt);
        return { attributes: attributesOf(point.attributes), value };
      });
      into.metrics.push({ name: String(metric.name), unit: String(metric.unit), kind, points });
    }
  }
}

function attributesOf(pairs: Wire | undefined): Attributes {
  return Object.fromEntries(
    list(pairs).map(({ key, value }) => {
      const { stringValue, boolValue, intValue, doubleValue } = value ?? {};
      return [String(key), stringValue ?? boolValue ?? (intValue === undefined ? doubleValue : Number(intValue))];
    }),
  );
}

/** The fields of a protobuf message by number: varints and fixed fields as bigint, the rest as bytes. */
function fieldsOf(bytes: Buffer): Map<number, (bigint | Buffer)[]> {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    let value: bigint | Buffer;
    if (wireType === 0) value = varint();
    else if (wireType === 1) {
      value = bytes.readBigUInt64LE(at);
      at += 8;
    } else if (wireType === 2) {
      const length = Number(varint());
      value = bytes.subarray(at, at + length);
      at += length;
    } else if (wireType === 5) {
      value = BigInt(bytes.readUInt32LE(at));
      at += 4;
    } else throw new Error(`wire type ${wireType}`);
    const known = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, [...known, value]);
  }
  return fields;
}

const message = (value: unknown) => fieldsOf(value as Buffer);
const all = (fields: Map<number, (bigint | Buffer)[]>, number: number) => fields.get(number) ?? [];
const text = (value: unknown): string | undefined => (value as Buffer | undefined)?.toString();
const hex = (value: unknown): string => (value as Buffer | undefined)?.toString('hex') ?? '';
const double = (value: unknown): number | undefined => {
  if (value === undefined) return undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value as bigint);
  return bytes.readDoubleLE();
};

function keyValue(bytes: unknown): unknown {
  const fields = message(bytes);
  const value = message(all(fields, 2)[0] ?? Buffer.alloc(0));
  const [bool, int] = [all(value, 2)[0], all(value, 3)[0]];
  return {
    key: text(all(fields, 1)[0]),
    value: {
      stringValue: text(all(value, 1)[0]),
      boolValue: bool === undefined ? undefined : bool === 1n,
      intValue: int,
      doubleValue: double(all(value, 4)[0]),
    },
  };
}

function grouped(bytes: Buffer, item: (bytes: unknown) => unknown, names: readonly [string, string, string]): Wire {
  const [outer, inner, items] = names;
  return wire({
    [outer]: all(fieldsOf(bytes), 1).map((group) => {
      const fields = message(group);
      return {
        resource: { attributes: all(message(all(fields, 1)[0]), 1).map(keyValue) },
        [inner]: all(fields, 2).map((scope) => ({ [items]: all(message(scope), 2).map(item) })),
      };
    }),
  });
}

const traceRequest = (bytes: Buffer): Wire =>
  grouped(
    bytes,
    (span) => {
      const fields = message(span);
      const status = message(all(fields, 15)[0] ?? Buffer.alloc(0));
      return {
        traceId: hex(all(fields, 1)[0]),
        spanId: hex(all(fields, 2)[0]),
        parentSpanId: hex(all(fields, 4)[0]),
        name: text(all(fields, 5)[0]),
        kind: Number(all(fields, 6)[0]),
        startTimeUnixNano: all(fields, 7)[0],
        endTimeUnixNano: all(fields, 8)[0],
        attributes: all(fields, 9).map(keyValue),
        events: all(fields, 11).map((event) => ({
          name: text(all(message(event), 2)[0]),
          attributes: all(message(event), 3).map(keyValue),
        })),
        status: { code: Number(all(status, 3)[0] ?? 0) },
      };
    },
    ['resourceSpans', 'scopeSpans', 'spans'],
  );

const metricsRequest = (bytes: Buffer): Wire =>
  grouped(
    bytes,
    (metric) => {
      const fields = message(metric);
      const points = (number: number, map: (point: Map<number, (bigint | Buffer)[]>) => unknown) => {
        const [data] = all(fields, number);
        return data === undefined
          ? undefined
          : { dataPoints: all(message(data), 1).map((point) => map(message(point))) };
      };
      const numeric = (point: Map<number, (bigint | Buffer)[]>) => ({
        attributes: all(point, 7).map(keyValue),
        asDouble: double(all(point, 4)[0]),
        asInt: all(point, 6)[0],
      });
      return {
        name: text(all(fields, 1)[0]),
        unit: text(all(fields, 3)[0]),
        gauge: points(5, numeric),
        sum: points(7, numeric),
        histogram: points(9, (point) => ({
          attributes: all(point, 9).map(keyValue),
          count: all(point, 4)[0],
          sum: double(all(point, 5)[0]),
          bucketCounts: fixed64s(all(point, 6)),
        })),
      };
    },
    ['resourceMetrics', 'scopeMetrics', 'metrics'],
  );

/** Accepts packed and unpacked fields. */
const fixed64s = (values: readonly (bigint | Buffer)[]): readonly bigint[] =>
  values.flatMap((value) =>
    typeof value === 'bigint'
      ? [value]
      : Array.from({ length: value.length / 8 }, (_, i) => value.readBigUInt64LE(i * 8)),
  );
