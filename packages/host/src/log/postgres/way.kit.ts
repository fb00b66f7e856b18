/** A way to the server of tests whose connections can be reset, or fall silent as behind a cable that was cut; not shipped. */
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What is not passed on any more. */
type Silence = 'requests' | 'answers';

interface Passing {
  readonly socket: Socket;
  readonly silent: Set<Silence>;
}

export interface Way {
  /** The same database through the way. */
  readonly url: string;
  /** Ends the connections that are open, as a machine that restarts does. */
  reset(): void;
  /** The connections that are open stay so and say nothing. Later ones work. */
  silence(...what: readonly Silence[]): void;
  /** Whether connections that open from now on say nothing either. */
  hush(isOn: boolean): void;
}

export async function wayTo(target: string): Promise<Way> {
  const url = new URL(target);
  const [host, port] = [url.hostname, Number(url.port)];
  const open = new Set<Passing>();
  let isHushed = false;
  const way = createServer((socket) => {
    const passing: Passing = { socket, silent: new Set(isHushed ? ['requests', 'answers'] : []) };
    open.add(passing);
    const server = dial(port, host);
    for (const one of [socket, server]) one.on('error', () => undefined);
    socket.on('data', (bytes) => passing.silent.has('requests') || server.write(bytes));
    server.on('data', (bytes) => passing.silent.has('answers') || socket.write(bytes));
    server.once('close', () => passing.silent.size > 0 || socket.destroy());
    socket.once('close', () => {
      open.delete(passing);
      // A server does not hear of the end of a connection that is silent.
      if (passing.silent.size === 0) server.destroy();
    });
    onTestFinished(() => void server.destroy());
  }).listen(0, '127.0.0.1');
  await once(way, 'listening');
  const address = way.address();
  if (address === null || typeof address === 'string') throw new Error('The way has no port.');
  url.port = String(address.port);
  onTestFinished(() => {
    for (const { socket } of open) socket.destroy();
    way.close();
  });
  return {
    url: url.href,
    reset: () => {
      for (const { socket } of open) socket.resetAndDestroy();
    },
    hush: (isOn) => {
      isHushed = isOn;
    },
    silence: (...what) => {
      for (const { silent } of open) for (const one of what) silent.add(one);
    },
  };
}
