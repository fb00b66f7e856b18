/** What the load generator expects of a server, and how it counts what it gets. */
import { TerminalError } from '@cairn/protocol';
import type { Reply } from './http-connection.ts';

/** Counts a byte sequence in a stream, including occurrences that span two chunks. */
export function countMarks(mark: Buffer): { take(bytes: Buffer): void; count(): number } {
  let carry = Buffer.alloc(0);
  let found = 0;
  const scan = (bytes: Buffer) => {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) found += 1;
  };
  return {
    take(bytes) {
      scan(Buffer.concat([carry, bytes.subarray(0, mark.length - 1)]));
      scan(bytes);
      const tail = bytes.length >= mark.length ? bytes : Buffer.concat([carry, bytes]);
      carry = Buffer.from(tail.subarray(-(mark.length - 1)));
    },
    count: () => found,
  };
}

export function expectStatus(reply: Reply, status: number, path: string): Reply {
  if (reply.status === status) return reply;
  throw unexpected(`${path} answered ${reply.status} instead of ${status}: ${reply.body.slice(0, 300)}`);
}

export function unexpected(message: string): TerminalError {
  return new TerminalError('internal_error', { message, hint: 'See what the server wrote on stderr.' });
}
