/** The limit for streaming: a bare `node:http` server that only writes each event to every open response. */
import { createServer, type ServerResponse } from 'node:http';
import { portOf } from '../packages/host/test/kit/port-of.ts';
import { cpuMs, serveCommands } from './child.ts';
import { type Emitted, machineMs, paced, STREAM_PAYLOAD, STREAM_TYPE } from './stream-pace.ts';

const RUN = 'run_0190a000-0000-7000-8000-000000000000';

const frame = (seq: number): string =>
  `id: ${seq}\nevent: ${STREAM_TYPE}\ndata: {"eventId":"${RUN}:${seq}","runId":"${RUN}","type":"${STREAM_TYPE}","payload":${STREAM_PAYLOAD},"timestamp":"2026-11-15T12:00:00.000Z","sequence":${seq},"nodeId":"gate"}\n\n`;

function bareCommands() {
  const open = new Set<ServerResponse>();
  let seq = 0;

  const writeAll = () => {
    const text = frame(seq++);
    for (const response of open) response.write(text);
  };

  return {
    serve: async (): Promise<number> => {
      const server = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
        response.flushHeaders();
        open.add(response);
        response.on('close', () => open.delete(response));
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      return portOf(server);
    },

    emit: async ({ count, everyMs }: { readonly count: number; readonly everyMs: number }): Promise<Emitted> => {
      const firstSeq = seq;
      const at: number[] = [];
      await paced(count, everyMs, () => {
        at.push(machineMs());
        writeAll();
      });
      return { firstSeq, at };
    },

    /** Writes at full speed, with as many events per turn as the host commits in one transaction. */
    burst: async ({ count, perTurn }: { readonly count: number; readonly perTurn: number }): Promise<Emitted> => {
      const firstSeq = seq;
      const begin = machineMs();
      for (let made = 0; made < count; ) {
        for (const end = Math.min(count, made + perTurn); made < end; made++) writeAll();
        await new Promise((turn) => setImmediate(turn));
      }
      return { firstSeq, at: Array.from({ length: count }, () => begin) };
    },

    usage: () => ({ cpuMs: cpuMs(), commits: 0 }),
  };
}

export type BareCommands = ReturnType<typeof bareCommands>;

serveCommands(bareCommands());
