/**
 * Names out of data are asked of the DNS alone: the machine's own host table does not count, a slow name server holds
 * no thread of the process, and who stops waiting stops the question.
 */
import { Resolver } from 'node:dns/promises';
import type { Resolve } from './egress.ts';

export const publicDns: Resolve = async (name, signal) => {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const stop = () => resolver.cancel();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0 || (isEmpty(v4) && isEmpty(v6))) return found;
    throw ((isEmpty(v4) ? v6 : v4) as PromiseRejectedResult).reason;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** The DNS answered, and there is no such name or no address of that kind. */
const isEmpty = (answer: PromiseSettledResult<string[]>): boolean =>
  answer.status === 'fulfilled' || ['ENOTFOUND', 'ENODATA'].includes((answer.reason as { code: string }).code);
