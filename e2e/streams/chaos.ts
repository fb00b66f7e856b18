/**
 * Watches a run through a proxy that keeps cutting the connection: no event may be missing, repeated or out of order.
 */
import { createClient } from '@cairn/client';
import { isUpdate, type RunEventDoc } from '@cairn/protocol';
import type { NewRow } from '../../packages/host/src/log/ports/rows.ts';
import { createRandom } from '../../packages/host/test/kit/random.ts';
import { readBare } from './bare-reader.ts';
import { ChaosProxy } from './chaos-proxy.ts';
import { KEY, StreamHost } from './stream-host.ts';

export interface ChaosWish {
  readonly seed: number;
  /** Number of connections to cut. */
  readonly cuts: number;
  /** The reader: the project's client, or a bare reader with these parameters. */
  readonly reader: 'client' | { readonly query: string };
}

export interface ChaosResult {
  readonly cuts: number;
  readonly connections: number;
  /** Sequences as seen by the reader, and as stored in the log. */
  readonly seen: readonly number[];
  readonly expected: readonly number[];
}

/** Maximum lead of the log over the reader, so that the reader meets both history and the live edge. */
const AHEAD = 40;
/** Maximum bytes between two cuts: a few frames, or the batches of a buffered stream. */
const MAX_BYTES = 3_000;
const MAX_BYTES_BUFFERED = 15_000;

export async function chaosCampaign({ seed, cuts, reader }: ChaosWish): Promise<ChaosResult> {
  const random = createRandom(seed);
  await using host = await StreamHost.open();
  await using proxy = await ChaosProxy.listen({
    target: host.port,
    random: random.fork('cuts'),
    maxBytes: reader !== 'client' && reader.query.includes('bufferMs') ? MAX_BYTES_BUFFERED : MAX_BYTES,
    cuts,
  });
  const seen: number[] = [];
  let progress = Promise.withResolvers<void>();
  const see = ({ sequence }: RunEventDoc) => {
    seen.push(sequence);
    progress.resolve();
  };
  const reading = reader === 'client' ? readByClient(host, proxy, see) : readBare(bareOf(host, proxy, reader, see));
  const rows = random.fork('rows');
  while (!proxy.isCalm) {
    if (host.last - (seen.at(-1) ?? -1) < AHEAD) await host.write(rowsOf(rows.between(1, 8)));
    else {
      progress = Promise.withResolvers<void>();
      // A cut shows no event, so the wait never exceeds one event-loop turn.
      await Promise.race([progress.promise, new Promise((turn) => setImmediate(turn))]);
    }
  }
  await host.finish();
  await reading;
  const isShown = reader === 'client' || reader.query.includes('debug') ? () => true : isUpdate;
  return { cuts: proxy.cuts, connections: proxy.connections, seen, expected: await host.visible(isShown) };
}

/** Text in which a cut may fall inside a character. `updates` shows some of the rows and hides others. */
const rowsOf = (count: number): readonly NewRow[] =>
  Array.from({ length: count }, (_, i) => ({
    at: 0,
    type: i % 2 === 0 ? 'artifact.created' : 'log.appended',
    audience: i % 5 === 4 ? 'operator' : 'client',
    payload: JSON.stringify({ text: 'žluťoučký kůň 日本語 😀🚀 '.repeat(1 + (i % 4)) }),
    task: null,
  }));

const bareOf = (
  host: StreamHost,
  proxy: ChaosProxy,
  { query }: { query: string },
  seen: (event: RunEventDoc) => void,
) => ({
  port: proxy.port,
  path: `/v1/runs/${host.runId}/events${query}`,
  seen,
});

async function readByClient(host: StreamHost, proxy: ChaosProxy, see: (event: RunEventDoc) => void): Promise<void> {
  const client = createClient({
    url: `http://127.0.0.1:${proxy.port}`,
    key: KEY,
    // No delay between attempts: two thousand of them must fit into a test.
    timers: {
      after: (ms, wake) => {
        const timer = setTimeout(wake, ms > 20_000 ? ms : 0);
        return () => clearTimeout(timer);
      },
      random: () => 0,
    },
  });
  for await (const event of client.follow(host.runId)) see(event);
}
