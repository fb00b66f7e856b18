/**
 * Connections whose request body its route reads by itself, with limits of its own. Node would end them after the time
 * that every other request has.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export class OwnBodies {
  readonly #sockets = new WeakSet<Duplex>();

  /** Until the response is over. */
  add({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#sockets.add(socket);
    response.once('close', () => this.#sockets.delete(socket));
  }

  /** Whether Node may end the connection for this error. */
  ends(error: { readonly code?: string }, socket: Duplex): boolean {
    return error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || !this.#sockets.has(socket);
  }
}
