/** Names one more request header on which a response depends. Those named before stay: caches go by all of them. */
import type { FastifyReply } from 'fastify';

export function varyBy(reply: FastifyReply, name: string): void {
  const before = reply.raw.getHeader('vary');
  reply.header('vary', typeof before === 'string' ? `${before}, ${name}` : name);
}
