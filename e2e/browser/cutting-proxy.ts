/** A proxy between a browser and a host that fails on demand. */
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../../packages/host/test/kit/port-of.ts';

export interface CuttingProxy extends AsyncDisposable {
  readonly url: string;
  /** Breaks every open connection. */
  cut(): void;
}

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const port = Number(new URL(target).port);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    cut,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}
