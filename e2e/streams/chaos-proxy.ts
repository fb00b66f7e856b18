/** A proxy that cuts connections after a random number of response bytes. */

import { connect, createServer, type Server, type Socket } from 'node:net';
import { portOf } from '../../packages/host/test/kit/port-of.ts';
import type { Random } from '../../packages/host/test/kit/random.ts';

export interface ChaosOptions {
  readonly target: number;
  readonly random: Random;
  /** Maximum response bytes that pass before the cut. */
  readonly maxBytes: number;
  /** Number of connections to cut. Later connections are left alone. */
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
      // The forwarded bytes arrive. Half of the cuts look like a clean end, half are resets.
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
