/** A proxy that cuts connections: after a number of bytes of the answer that nobody foresees, whatever they belong to. */

import { connect, createServer, type Server, type Socket } from 'node:net';
import { portOf } from '../../packages/host/test/kit/port-of.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';

export interface ChaosOptions {
  readonly target: number;
  readonly random: Random;
  /** Most bytes of an answer that pass before the cut. */
  readonly maxBytes: number;
  /** How many connections are cut; those after them are left alone. */
  readonly cuts: number;
}

export class ChaosProxy implements AsyncDisposable {
  readonly #options: ChaosOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  cuts = 0;
  connections = 0;

  private constructor(options: ChaosOptions) {
    this.#options = options;
    this.#server = createServer((client) => this.#relay(client));
  }

  static async listen(options: ChaosOptions): Promise<ChaosProxy> {
    const proxy = new ChaosProxy(options);
    await new Promise<void>((listening) => proxy.#server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get port(): number {
    return portOf(this.#server);
  }

  get isCalm(): boolean {
    return this.cuts >= this.#options.cuts;
  }

  #relay(client: Socket): void {
    const upstream = connect(this.#options.target, '127.0.0.1');
    this.connections += 1;
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    let left = this.#options.random.between(1, this.#options.maxBytes);
    upstream.on('data', (bytes: Buffer) => {
      if (client.destroyed) return;
      if (this.isCalm || bytes.length < left) {
        left -= bytes.length;
        client.write(bytes);
        return;
      }
      this.cuts += 1;
      // What was let through arrives; half of the time the end looks orderly, half of the time it does not.
      const passed = bytes.subarray(0, left);
      if (this.#options.random.chance(0.5)) client.end(passed);
      else client.write(passed, () => client.resetAndDestroy());
      upstream.destroy();
    });
    upstream.on('end', () => client.end());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((closed) => this.#server.close(() => closed()));
  }
}
