/**
 * A transaction pooler for tests: many clients share few sessions of a server, each for one transaction at a time. As with
 * older poolers, a session does not know what a client prepared before; not shipped.
 */
import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';

/** Types of messages that a pooler looks at. */
const READY = 'Z';
const PASSWORD_WANTED = 'R';
const TERMINATE = 'X';

const message = (type: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

/** Cuts what arrives into messages. Those of a client before its session begins have no type. */
function onMessages(socket: Socket, hear: (type: string, whole: Buffer) => void, isUntyped = () => false): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const at = isUntyped() ? 0 : 1;
      if (rest.length < at + 4) return;
      const end = at + rest.readInt32BE(at);
      if (rest.length < end) return;
      const whole = rest.subarray(0, end);
      rest = rest.subarray(end);
      hear(at === 0 ? '' : String.fromCharCode(whole[0] ?? 0), whole);
    }
  });
}

/** A session of the server, which belongs to a client while a transaction is open. */
class Session {
  readonly socket: Socket;
  client: Client | null = null;

  constructor(socket: Socket, onFree: (session: Session) => void) {
    this.socket = socket;
    onMessages(socket, (type, whole) => {
      this.client?.socket.write(whole);
      // Idle: no transaction is open.
      if (type !== READY || whole[5] !== 'I'.charCodeAt(0)) return;
      if (this.client !== null) this.client.session = null;
      this.client = null;
      onFree(this);
    });
  }
}

interface Client {
  readonly socket: Socket;
  session: Session | null;
  readonly waiting: Buffer[];
}

export interface Pooler extends AsyncDisposable {
  readonly url: string;
  /** Most sessions that were in use at a time. */
  readonly used: () => number;
}

/** Lets clients without a password in, and has `count` sessions with the database of the URL. */
export async function startPooler(serverUrl: string, count: number): Promise<Pooler> {
  const sockets = new Set<Socket>();
  const free: Session[] = [];
  const queue: Client[] = [];
  let used = 0;
  const assign = (): void => {
    for (let client = queue[0]; client !== undefined && free.length > 0; client = queue[0]) {
      queue.shift();
      const session = free.shift();
      if (session === undefined || client.socket.destroyed) continue;
      [client.session, session.client] = [session, client];
      used = Math.max(used, count - free.length);
      for (const whole of client.waiting.splice(0)) session.socket.write(whole);
    }
  };
  const freed = (session: Session): void => {
    free.push(session);
    assign();
  };
  for (let n = 0; n < count; n += 1) {
    const socket = await authenticated(new URL(serverUrl));
    sockets.add(socket);
    free.push(new Session(socket, freed));
  }
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const client: Client = { socket, session: null, waiting: [] };
    let isStarted = false;
    const hear = (type: string, whole: Buffer): void => {
      if (type === '') {
        isStarted = true;
        socket.write(Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]));
      } else if (type === TERMINATE) socket.end();
      else if (client.session !== null) client.session.socket.write(whole);
      else {
        client.waiting.push(Buffer.from(whole));
        if (client.waiting.length === 1) queue.push(client);
        assign();
      }
    };
    onMessages(socket, hear, () => !isStarted);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The pooler has no port.');
  const url = new URL(serverUrl);
  url.port = String(address.port);
  url.searchParams.set('prepare', 'false');
  return {
    url: url.href,
    used: () => used,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A session that is ready. The server of tests asks for the password as it is. */
async function authenticated(url: URL): Promise<Socket> {
  const socket = dial({ port: Number(url.port), host: url.hostname, noDelay: true });
  const said = `user\0${url.username}\0database\0${url.pathname.slice(1)}\0\0`;
  const head = Buffer.alloc(8);
  head.writeInt32BE(said.length + 8, 0);
  head.writeInt32BE(196_608, 4);
  socket.write(Buffer.concat([head, Buffer.from(said)]));
  const ready = Promise.withResolvers<void>();
  socket.once('error', ready.reject);
  onMessages(socket, (type, whole) => {
    if (type === PASSWORD_WANTED && whole.readInt32BE(5) !== 0)
      socket.write(message('p', Buffer.from(`${url.password}\0`)));
    else if (type === READY) ready.resolve();
  });
  await ready.promise;
  socket.removeAllListeners('data');
  return socket;
}
