/** The load generator: a separate process that drives a server in a closed loop and checks the responses. */
import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { present } from '../packages/host/test/kit/present.ts';
import { CALL_NUMBER, type CallLoad } from './calls.ts';
import { cpuMs, serveCommands } from './child.ts';
import { HttpConnection, requestText } from './http-connection.ts';
import { countMarks, expectStatus, unexpected } from './replies.ts';
import { percentile } from './statistics.ts';
import { machineMs, paced } from './stream-pace.ts';
import { taskCommands } from './task-client.ts';
import { type Target, watchRun } from './watched-run.ts';

interface RunLoad {
  readonly target: Target;
  readonly workflowId: string;
  readonly concurrency: number;
  readonly count: number;
}

/** The same load on several nodes: the clients are dealt out to them. */
interface SpreadLoad extends Omit<RunLoad, 'target'> {
  readonly targets: readonly Target[];
}

interface PacedRuns {
  readonly target: Target;
  readonly workflowId: string;
  readonly count: number;
  readonly everyMs: number;
}

/** Milliseconds from the request to its answer, and to the end of the run's stream. */
export interface PacedResult {
  readonly startP50: number;
  readonly startP99: number;
  readonly endP50: number;
  readonly endMax: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Cores the load generator used. Near 1, the generator itself is the bottleneck. */
  readonly clientCores: number;
}

const DATA_LINE = Buffer.from('\ndata: ');

const commands = {
  /** Creates a run and watches it to its end as a user's program would, checking every event; `count` times. */
  watchedRuns: async ({ target, workflowId, concurrency, count }: RunLoad): Promise<LoadResult> => {
    const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
    const watch = () => watchRun(agent, target, workflowId);
    const result = await loop(
      Array.from({ length: concurrency }, () => watch),
      count,
    );
    agent.destroy();
    return result;
  },

  /** The same with minimal client overhead: bare sockets that only look for the end of the stream. */
  runs: ({ target, workflowId, concurrency, count }: RunLoad): Promise<LoadResult> =>
    closedLoop(target, concurrency, count, (connection) => runToItsEnd(connection, target, workflowId)),

  runsOnNodes: async ({ targets, workflowId, concurrency, count }: SpreadLoad): Promise<LoadResult> => {
    const clients = Array.from({ length: concurrency }, (_, n) => {
      const target = present(targets[n % targets.length]);
      return { target, connection: new HttpConnection(target.port) };
    });
    const result = await loop(
      clients.map(
        ({ connection, target }) =>
          () =>
            runToItsEnd(connection, target, workflowId),
      ),
      count,
    );
    for (const { connection } of clients) connection.close();
    return result;
  },

  /** Creates runs without watching them. */
  creates: ({ target, workflowId, concurrency, count }: RunLoad): Promise<LoadResult> =>
    closedLoop(target, concurrency, count, async (connection) => {
      await createRun(connection, target, workflowId);
    }),

  /** Starts a run at a steady pace, whatever the others take, and reads it to its end. */
  pacedRuns: async ({ target, workflowId, count, everyMs }: PacedRuns): Promise<PacedResult> => {
    const starts: number[] = [];
    const ends: number[] = [];
    const idle: HttpConnection[] = [];
    const one = async () => {
      const connection = idle.pop() ?? new HttpConnection(target.port);
      const begin = performance.now();
      const runId = await createRun(connection, target, workflowId);
      starts.push(performance.now() - begin);
      const path = `/v1/runs/${runId}/events?streamMode=debug`;
      const request = requestText({ method: 'GET', path, key: target.key, accept: 'text/event-stream' });
      expectStatus(await connection.send(request), 200, path);
      ends.push(performance.now() - begin);
      idle.push(connection);
    };
    const all: Promise<void>[] = [];
    await paced(count, everyMs, () => void all.push(one()));
    await Promise.all(all);
    for (const connection of idle) connection.close();
    return {
      startP50: percentile(starts, 0.5),
      startP99: percentile(starts, 0.99),
      endP50: percentile(ends, 0.5),
      endMax: Math.max(...ends),
    };
  },

  /** Posts bodies that differ in a number, and looks for a mark in each response. */
  calls: async ({ target, path, headers, body, mark, concurrency, count }: CallLoad): Promise<LoadResult> => {
    const [before = '', after = ''] = body.split(CALL_NUMBER);
    const name = randomUUID();
    let number = 0;
    return closedLoop(target, concurrency, count, async (connection) => {
      number += 1;
      const sent = `${before}${name}-${number}${after}`;
      const request = requestText({ method: 'POST', path, key: target.key, headers, body: sent });
      const reply = expectStatus(await connection.send(request), 200, path);
      if (!reply.body.includes(mark)) throw unexpected(`${path} answered without ${mark}: ${reply.body.slice(0, 300)}`);
    });
  },

  /** Repeats the same GET, one at a time. Returns the last body so that the caller can check it. */
  reads: async (load: { readonly target: Target; readonly path: string; readonly count: number }) => {
    const request = requestText({ method: 'GET', path: load.path, key: load.target.key });
    let body = '';
    const result = await closedLoop(load.target, 1, load.count, async (connection) => {
      body = expectStatus(await connection.send(request), 200, load.path).body;
    });
    return { ...result, body };
  },

  /** Forks a run, reads the first events after the cut and cancels the fork, one at a time. */
  forks: async (load: {
    readonly target: Target;
    readonly runId: string;
    readonly fromSeq: number;
    readonly count: number;
  }) => {
    const { target, runId, fromSeq, count } = load;
    const connection = new HttpConnection(target.port);
    const path = `/v1/runs/${runId}:fork`;
    const body = JSON.stringify({ mode: 'branch', fromSeq });
    const acceptedMs: number[] = [];
    const readMs: number[] = [];
    for (let i = 0; i < count; i++) {
      const begin = performance.now();
      const reply = await connection.send(requestText({ method: 'POST', path, key: target.key, body }));
      acceptedMs.push(performance.now() - begin);
      const fork = JSON.parse(expectStatus(reply, 201, path).body) as { readonly runId: string };
      const read = `/v1/runs/${fork.runId}/events/poll?lastSequence=${fromSeq - 100}`;
      const reading = performance.now();
      const page = expectStatus(
        await connection.send(requestText({ method: 'GET', path: read, key: target.key })),
        200,
        read,
      );
      readMs.push(page.body.includes(`"sequence":${fromSeq - 60}`) ? performance.now() - reading : Number.NaN);
      const cancel = `/v1/runs/${fork.runId}/cancel`;
      await connection.send(requestText({ method: 'POST', path: cancel, key: target.key, body: '{}' }));
      // The next branch finds a quiet host, as it would in use.
      const end = `/v1/runs/${fork.runId}/events/poll?timeout=30&lastSequence=`;
      for (let last = fromSeq; ; ) {
        const poll = await connection.send(requestText({ method: 'GET', path: `${end}${last}`, key: target.key }));
        const { isTerminal, lastEventSeq } = JSON.parse(expectStatus(poll, 200, end).body) as PollEnd;
        if (isTerminal) break;
        last = lastEventSeq;
      }
    }
    connection.close();
    return { acceptedMs, readMs };
  },

  /** Reads one stream to its end at full speed and counts events. */
  stream: async ({ target, path }: { readonly target: Target; readonly path: string }) => {
    const connection = new HttpConnection(target.port);
    const request = requestText({ method: 'GET', path, key: target.key, accept: 'text/event-stream' });
    const counter = countMarks(DATA_LINE);
    const cpu = cpuMs();
    const begin = performance.now();
    expectStatus(await connection.send(request, counter.take), 200, path);
    const ms = performance.now() - begin;
    const endedAt = machineMs();
    connection.close();
    return { events: counter.count(), ms, endedAt, clientCores: (cpuMs() - cpu) / ms };
  },

  ...taskCommands,
};

interface PollEnd {
  readonly isTerminal: boolean;
  readonly lastEventSeq: number;
}

export type LoadCommands = typeof commands;

async function runToItsEnd(connection: HttpConnection, target: Target, workflowId: string): Promise<void> {
  const runId = await createRun(connection, target, workflowId);
  const path = `/v1/runs/${runId}/events?streamMode=debug`;
  const request = requestText({ method: 'GET', path, key: target.key, accept: 'text/event-stream' });
  const reply = expectStatus(await connection.send(request), 200, path);
  if (reply.body.includes('\nevent: run.completed\n')) return;
  throw unexpected(`the stream of ${runId} ended without run.completed: ${reply.body.slice(-300)}`);
}

async function createRun(connection: HttpConnection, target: Target, workflowId: string): Promise<string> {
  const body = JSON.stringify({ workflowId, inputs: {} });
  const request = requestText({ method: 'POST', path: '/v1/runs', key: target.key, body });
  const reply = expectStatus(await connection.send(request), 201, '/v1/runs');
  return (JSON.parse(reply.body) as { readonly runId: string }).runId;
}

/** `concurrency` connections. Each starts its next work item when its last one is done. */
async function closedLoop(
  target: Target,
  concurrency: number,
  count: number,
  work: (connection: HttpConnection) => Promise<void>,
): Promise<LoadResult> {
  const connections = Array.from({ length: concurrency }, () => new HttpConnection(target.port));
  const result = await loop(
    connections.map((connection) => () => work(connection)),
    count,
  );
  for (const connection of connections) connection.close();
  return result;
}

/** Each client starts its next work item when its last one is done, until all clients together have done `count`. */
async function loop(clients: readonly (() => Promise<void>)[], count: number): Promise<LoadResult> {
  const latencies: number[] = [];
  let left = count;
  const cpu = cpuMs();
  const begin = performance.now();
  const repeat = async (work: () => Promise<void>) => {
    while (left-- > 0) {
      const started = performance.now();
      await work();
      latencies.push(performance.now() - started);
    }
  };
  await Promise.all(clients.map(repeat));
  const ms = performance.now() - begin;
  return {
    perSecond: (count / ms) * 1000,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    clientCores: (cpuMs() - cpu) / ms,
  };
}

serveCommands(commands);
