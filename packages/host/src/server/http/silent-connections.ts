/** Tracks connections without any request. Node does not count them as idle, so they would delay shutdown. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Watches a server's connections. Returns a function that closes those without a request. */
export function watchSilent(server: Server): () => void {
  const silent = new Set<Socket>();
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.on('request', (request) => silent.delete(request.socket));
  return () => {
    for (const socket of silent) socket.destroy();
  };
}
