/**
 * The sockets of connections. They send at once what is small, so that a statement can go right behind another one, and
 * they can be cut: the driver ends a connection by talking to a server that may not be there any more.
 */
import { connect, type Socket } from 'node:net';

/** As the driver gives them. */
interface Address {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** Of a Unix socket. */
  readonly path?: string | undefined;
}

/** A server that is silently gone is noticed after this time without a word, and ten probes of a second. */
const KEEP_ALIVE_MS = 60_000;

/** For the option `socket` of the driver. Each attempt takes the next host. */
export function dialing(opened: (socket: Socket) => void = () => {}): (address: Address) => Socket {
  let attempts = 0;
  return ({ host, port, path }) => {
    const place = attempts % Math.max(1, host.length);
    attempts += 1;
    const settings = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
    const name = host[place] ?? 'localhost';
    const socket = path
      ? connect({ ...settings, path })
      : connect({ ...settings, host: name, port: port[place] ?? 5432 });
    opened(socket);
    // The driver compares the certificate of the server with it. It writes once the socket is connected.
    return Object.assign(socket, { host: name });
  };
}
